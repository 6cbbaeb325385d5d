/**
 * Whether a call reads or writes, said of each where its names are: what only reads is answered beside the
 * writer, so that no list, check or plan holds up events.
 */

export type Access = 'reads' | 'writes'

/** Names of the calls with one of these accesses. */
export function callsThat<K extends string>(calls: Readonly<Record<K, Access>>, ...access: Access[]): K[] {
  return (Object.keys(calls) as K[]).filter((name) => access.includes(calls[name]))
}
