/** Event times of the form nearly all senders use, `2026-11-20T12:00:00.000Z`. */
import { isDigit, ZERO } from './scan'

const SIZE: usize = 24
/** No such time, or another form: the caller looks. */
export const UNSURE: f64 = NaN

let lastDay: u64 = 0
let lastDayRest: u16 = 0
let lastMidnight: i64 = 0

/** Epoch ms, or NaN. */
export function plainTime(at: usize, size: usize): f64 {
  if (size !== SIZE) return UNSURE
  const marks =
    load<u8>(at, 10) === 0x54 &&
    load<u8>(at, 13) === 0x3a &&
    load<u8>(at, 16) === 0x3a &&
    load<u8>(at, 19) === 0x2e &&
    load<u8>(at, 23) === 0x5a
  if (!marks) return UNSURE
  const hour = pair(at + 11)
  const minute = pair(at + 14)
  const second = pair(at + 17)
  const tens = pair(at + 20)
  const last = digit(at + 22)
  if (hour > 23 || minute > 59 || second > 59 || tens > 99 || last > 9) return UNSURE
  const day = load<u64>(at)
  const rest = load<u16>(at, 8)
  if (day !== lastDay || rest !== lastDayRest) {
    if (!readDay(at)) return UNSURE
    lastDay = day
    lastDayRest = rest
  }
  return <f64>(
    (lastMidnight + <i64>hour * 3600000 + <i64>minute * 60000 + <i64>second * 1000 + <i64>(tens * 10 + last))
  )
}

/** 255 where it is no digit. */
function digit(at: usize): u32 {
  const byte = load<u8>(at)
  return isDigit(byte) ? <u32>(byte - ZERO) : 255
}

/** More than 99 where they are no digits. */
function pair(at: usize): u32 {
  return digit(at) * 10 + digit(at + 1)
}

function readDay(at: usize): bool {
  if (load<u8>(at, 4) !== 0x2d || load<u8>(at, 7) !== 0x2d) return false
  const century = pair(at)
  const years = pair(at + 2)
  const month = pair(at + 5)
  const day = pair(at + 8)
  if (century > 99 || years > 99 || month < 1 || month > 12 || day < 1) return false
  const year = century * 100 + years
  if (day > daysOf(year, month)) return false
  lastMidnight = daysFromCivil(<i64>year, <i64>month, <i64>day) * 86400000
  return true
}

function daysOf(year: u32, month: u32): u32 {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Days since 1970-01-01 (Hinnant, chrono-compatible low-level date algorithms). */
function daysFromCivil(y: i64, month: i64, day: i64): i64 {
  const year = month <= 2 ? y - 1 : y
  const era = (year >= 0 ? year : year - 399) / 400
  const yearOfEra = year - era * 400
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
}
