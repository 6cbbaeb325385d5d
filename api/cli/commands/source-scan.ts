/** `svc sources scan`: what runs in containers here, and the sources that could read it. */
import type { Command } from 'commander'
import type { EnvironmentScan } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { escapeText, type Io, paint, printJson, table } from '../terminal.ts'

type Proposed = EnvironmentScan['proposed_sources'][number]
type Skipped = EnvironmentScan['skipped'][number]

export function scanCommand(io: Io): Command {
  return clientCommand('scan', 'Propose sources for the containers beside the daemon').action(
    async (flags: ClientFlags & JsonFlag) => {
      const { text } = await clientOf(io, flags).call('/api/discover/environment?provider=docker')
      if (flags.json) return printJson(io, text)
      print(io, JSON.parse(text) as EnvironmentScan)
    },
  )
}

function print(io: Io, { summary, proposed_sources: proposed, skipped }: EnvironmentScan): void {
  const many = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
  io.out(
    `${many(summary.containers, 'container')}, ${many(summary.proposed, 'source')} proposed; nothing is saved\n`,
  )
  if (proposed.length > 0)
    io.out(
      `\n${table(
        io,
        [
          { title: 'SOURCE', cell: (one: Proposed) => one.name },
          { title: 'CONNECTOR', cell: (one) => one.connector },
          { title: 'CHOSEN', cell: (one) => (one.preselect ? 'yes' : 'no') },
          { title: 'WHAT', cell: (one) => one.summary },
        ],
        proposed,
      )}`,
    )
  if (skipped.length > 0)
    io.out(
      `\n${table(
        io,
        [
          { title: 'LEFT OUT', cell: (one: Skipped) => one.service },
          { title: 'IMAGE', cell: (one) => one.image },
          { title: 'WHY', cell: (one) => one.reason },
        ],
        skipped,
      )}`,
    )
  const [first] = proposed
  if (first)
    io.out(
      `\n${paint(io, 'dim', 'make one:')} svc sources scan --json | jq '.proposed_sources[] | select(.name == "${escapeText(first.name)}") | .config' | svc sources add ${escapeText(first.name)} --connector ${first.connector} --config -\n`,
    )
}
