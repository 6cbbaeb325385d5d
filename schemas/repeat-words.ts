/** When maintenance repeats, in words: the command and the console say the same. */
import type { MaintenanceRepeat } from './types.ts'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** "every day at 02:00 (Europe/Paris)"; an expression of another form as it is: "at 0 2 1-7 * 0 (UTC)". */
export function repeatWords({ cron, time_zone = 'UTC' }: MaintenanceRepeat): string {
  const [, minute, hour, day] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-7])$/.exec(cron.trim()) ?? []
  if (day === undefined) return `at ${cron} (${time_zone})`
  const days =
    day === '*' ? 'every day' : day === '1-5' ? 'Monday to Friday' : `every ${DAYS[Number(day) % 7]}`
  return `${days} at ${hour!.padStart(2, '0')}:${minute!.padStart(2, '0')} (${time_zone})`
}
