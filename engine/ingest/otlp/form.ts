/** What an OTLP export is: which signal, in which encoding. */

export type OtlpSignal = 'logs' | 'traces' | 'metrics'

/** Of a body that is an export request and no list of items. */
export interface OtlpForm {
  signal: OtlpSignal
  encoding: 'json' | 'protobuf'
}

/** JSON as OTLP has it, parsed; 64-bit integers are text. */
export type Fields = Record<string, unknown>

/** Any value as an object; anything else has no fields. */
export const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
