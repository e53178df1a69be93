/** `holt schedules ID` */
import type { ScheduleView } from '../model/schedule.ts'
import { scheduleLines } from './format/schedules.ts'
import type { Run } from './invocation.ts'

export const schedules: Run = async ({ args, client, io, print }) => {
  const views = (await (await client()).call('schedules', args)) as ScheduleView[]
  await print(views, (look) => scheduleLines(views, io.now(), look))
  return undefined
}
