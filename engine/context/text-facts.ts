/**
 * What a brief knows of a text without reading it again: how it is worded, and what it names. Worked out once for each
 * event that is stored, since it hangs on the text alone.
 */
import { placeIn, TRACE_ID_LABELS, traceIn } from './paths/trace-text.ts'
import type { ContextRow, TextFacts } from './types.ts'
import type { Masker } from './words.ts'

const MAY_TRACE = /trace[_\s-]?id/i
/** A text that names its number, as `cpu_percent=97.1`: where all numbers have one type, it tells them apart. */
const NAMED = /^([^\s=]{1,100})=-?\d[\d.]*(?:\s|$)/
const ALERT = /^(FIRING|RESOLVED):/

/** Whether a text says that it names a trace; of those that do, few name none. */
export const mayTrace = (text: string): boolean => MAY_TRACE.test(text)

/** What the number is called that a text gives; undefined: it gives none by name. */
export const numberNamedIn = (text: string): string | undefined => NAMED.exec(text)?.[1]

/** The state that an alert begins with, as some senders write it; empty: none. */
export const alertIn = (text: string): string => ALERT.exec(text)?.[1] ?? ''

/**
 * @param row what hangs on the text is worked out only where something asks for it of such a row
 * @param masker what remembers words that it saw
 */
export function textFacts(
  { text, labels, values, isSample }: Pick<ContextRow, 'text' | 'labels' | 'values' | 'isSample'>,
  masker: Masker,
): TextFacts {
  const says = mayTrace(text)
  const isTraced = says || TRACE_ID_LABELS.some((name) => labels[name] !== undefined)
  return {
    words: isSample ? '' : masker.words(text).join(' '),
    mayTrace: says,
    ...(says ? traceIn(text) : NO_TRACE),
    place: isTraced ? placeIn(text) : undefined,
    named: values.value === undefined ? undefined : numberNamedIn(text),
    alert: alertIn(text),
  }
}

const NO_TRACE = { trace: undefined, span: undefined }
