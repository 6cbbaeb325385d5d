/** How a source is doing, in the words of every page. */
import type { SetupConnectSource } from '../../schemas/types.ts'
import type { Tone } from '../parts/mark.tsx'

/** By the states of the API. */
const STATES: Readonly<Record<string, readonly [tone: Tone, word: string]>> = {
  receiving: ['good', 'receiving'],
  waiting: ['quiet', 'waiting for its first event'],
  starting: ['busy', 'starting'],
  error: ['bad', 'failing'],
}

/** @param state as an answer has it, whose own word is shown where none is better */
export function sourceState(state: string): { tone: Tone; children: string } {
  const [tone, children] = STATES[state] ?? ['quiet', state]
  return { tone, children }
}

/** How the first events come to a project that was just made: nobody sends to what svc asks. */
export const howEventsCome = (sources: readonly Pick<SetupConnectSource, 'ingest_url'>[]): string =>
  sources.some(({ ingest_url }) => ingest_url !== null)
    ? 'Send events now: the first of each source shows here.'
    : 'Events are fetched without your help: the first of each source shows here.'
