/**
 * What stays without a project that it was part of: what its pause stopped, and nothing starts again, and what it was
 * wired with there.
 */
import type { Wiring } from '../../schemas/types.ts'
import { KIND_WORDS } from './fields.ts'

/** A part in words: "trigger errs". */
export const partWords = ({ kind, name }: { kind: string; name: string }): string =>
  `${KIND_WORDS[kind]?.one} ${name}`

/** @param parts as `left_paused` of the API: kind:name of each @returns their names; nothing where there are none */
export const leftPausedWords = (parts: readonly string[] = []): string =>
  parts
    .map((part) => {
      const at = part.indexOf(':')
      return partWords({ kind: part.slice(0, at), name: part.slice(at + 1) })
    })
    .join(', ')

/** Wires in words: "errs wakes triage". */
export const wireWords = ({ wakes, handoffs }: Wiring): string[] => [
  ...wakes.map(({ trigger, agent }) => `${trigger} wakes ${agent}`),
  ...handoffs.map(({ agent, verdict, to }) => `${agent} hands over to ${to} on ${verdict}`),
]
