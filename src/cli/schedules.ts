/** `holt schedules ID` */
import { scheduleLines } from './format/schedules.ts'
import type { Run } from './invocation.ts'

export const schedules: Run = async ({ args: [id = ''], client, io, print }) => {
  const views = await (await client()).schedules(id)
  await print(views, (look) => scheduleLines(views, io.now(), look))
  return undefined
}
