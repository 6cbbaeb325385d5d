import { expect, it } from 'vitest'
import { repeatWords } from '../../schemas/repeat-words.ts'

it.each([
  [{ cron: '0 2 * * *', time_zone: 'Europe/Paris' }, 'every day at 02:00 (Europe/Paris)'],
  [{ cron: '5 14 * * 1-5' }, 'Monday to Friday at 14:05 (UTC)'],
  [{ cron: '0 2 * * 0' }, 'every Sunday at 02:00 (UTC)'],
  [{ cron: '0 2 * * 7' }, 'every Sunday at 02:00 (UTC)'],
  [{ cron: '0 2 1-7 * 0' }, 'at 0 2 1-7 * 0 (UTC)'],
  [{ cron: '*/30 2 * * *' }, 'at */30 2 * * * (UTC)'],
])('%j is %s', (repeat, words) => {
  expect(repeatWords(repeat)).toBe(words)
})
