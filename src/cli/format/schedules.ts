/** Schedules as a table: when each comes next, and what its last time came to. */
import type { ScheduleView } from '../../model/schedule.ts'
import { type Cell, type Column, table } from './table.ts'
import type { Look } from './text.ts'
import { dayAndTime, duration } from './time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'ID', least: 8 },
  { title: 'WHEN', least: 10 },
  { title: 'EVENT', least: 8 },
  { title: 'NEXT (UTC)' },
  { title: 'LAST', least: 10 },
  { title: 'MISSED', right: true },
]

export function scheduleLines(schedules: readonly ScheduleView[], now: number, look: Look): string[] {
  if (schedules.length === 0) return ['no schedules']
  const rows = schedules.map((schedule): Cell[] => [
    schedule.id,
    whenText(schedule),
    schedule.event,
    nextText(schedule, now),
    lastText(schedule),
    String(schedule.missedCount),
  ])
  return table(COLUMNS, rows, look)
}

function whenText({ cron, everyMs, at, timezone }: ScheduleView): string {
  if (cron !== null) return timezone === 'UTC' ? cron : `${cron} ${timezone}`
  if (everyMs !== null) return `every ${duration(everyMs)}`
  return at === null ? '-' : `once, ${dayAndTime(at)}`
}

function nextText({ nextAt, running }: ScheduleView, now: number): string {
  if (nextAt === null) return running ? 'running' : '-'
  return `${dayAndTime(nextAt)}, in ${duration(Math.max(0, nextAt - now))}`
}

function lastText({ lastFiredAt, lastOutcome, running }: ScheduleView): string {
  if (lastOutcome === null) return '-'
  const outcome = running ? 'running' : lastOutcome
  return lastFiredAt === null ? outcome : `${outcome}, ${dayAndTime(lastFiredAt)}`
}
