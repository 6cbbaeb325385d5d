/** `svc sources scan`: what runs in containers here, and the sources that could read it. */
import { countWords } from '../../../schemas/plain-words.ts'
import type { EnvironmentScan } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type Column, escapeText, type Io, paint, table } from '../terminal.ts'
import { verb } from '../verbs.ts'

type Proposed = EnvironmentScan['proposed_sources'][number]
type Skipped = EnvironmentScan['skipped'][number]

const PROPOSED: Column<Proposed>[] = [
  { title: 'SOURCE', cell: (one) => one.name },
  { title: 'CONNECTOR', cell: (one) => one.connector },
  { title: 'CHOSEN', cell: (one) => (one.preselect ? 'yes' : 'no') },
  { title: 'WHAT', cell: (one) => one.summary },
]

const SKIPPED: Column<Skipped>[] = [
  { title: 'LEFT OUT', cell: (one) => one.service },
  { title: 'IMAGE', cell: (one) => one.image },
  { title: 'WHY', cell: (one) => one.reason },
]

export const scanCommand = verb({
  does: 'Propose sources for the containers beside the daemon',
  call: calls.discoverEnvironment,
  input: () => ({ provider: 'docker' }),
  tell: print,
})

function print(io: Io, { summary, proposed_sources: proposed, skipped }: EnvironmentScan): void {
  io.out(
    `${countWords(summary.containers, 'container')}, ${countWords(summary.proposed, 'source')} proposed; nothing is saved\n`,
  )
  if (proposed.length > 0) io.out(`\n${table(io, PROPOSED, proposed)}`)
  if (skipped.length > 0) io.out(`\n${table(io, SKIPPED, skipped)}`)
  const [first] = proposed
  if (first)
    io.out(
      `\n${paint(io, 'dim', 'make one:')} svc sources scan --json | jq '.proposed_sources[] | select(.name == "${escapeText(first.name)}") | .config' | svc sources add ${escapeText(first.name)} --connector ${first.connector} --config -\n`,
    )
}
