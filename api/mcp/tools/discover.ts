/** The tool that asks an upstream what it has, and what a source of it would look like. */
import type { ToolDiscoverSource, ToolDiscoverSourceResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { PAGE_TOKENS, tokensOf } from '../paging.ts'
import { defineTool } from '../tool.ts'

export const discoverSource = defineTool<ToolDiscoverSource, ToolDiscoverSourceResult>({
  name: 'discover_source',
  title: 'Discover a source',
  description:
    'Asks an upstream what it has, and proposes a config that reads it; nothing is stored. Give what is known, such as url and credentials; of a webhook, name (what it received is read) or a sample. Choose the label that names the entity as primary, add the secrets again, then test_source and create_source.',
  scope: 'admin',
  ofProject: false,
  hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async run(args, { daemon, signal }) {
    const answer = await daemon.ask(calls.discoverSource, { body: args }, signal)
    const { connector: _same, summary, proposed_config: proposed = {}, ...rest } = answer
    const { found, cut } = fitted(rest)
    const said = typeof summary === 'string' ? summary : `${args.connector} answers.`
    const lines = [
      said,
      `proposed config: ${JSON.stringify(proposed)}`,
      ...Object.entries(found).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ]
    return {
      text: lines.join('\n') + (cut ? '\n(long lists are cut)' : ''),
      content: {
        connector: args.connector,
        summary: said,
        proposed_config: proposed,
        found,
        cut,
      },
    }
  },
})

/** Lists are halved until all of it fits; what still does not is left out, the largest first. */
function fitted(given: Record<string, unknown>): { found: Record<string, unknown>; cut: boolean } {
  let found = given
  const isOver = () => tokensOf(JSON.stringify(found)) > PAGE_TOKENS
  for (let most = 1_024; isOver() && most >= 1; most = Math.floor(most / 2))
    found = shortened(found, most) as Record<string, unknown>
  while (isOver()) {
    const sized = Object.entries(found).sort(([, a], [, b]) => sizeOf(b) - sizeOf(a))
    found = Object.fromEntries(sized.slice(1))
  }
  return { found, cut: found !== given }
}

const sizeOf = (value: unknown): number => JSON.stringify(value ?? null).length

function shortened(value: unknown, most: number): unknown {
  if (Array.isArray(value)) return value.slice(0, most).map((one) => shortened(one, most))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shortened(one, most)]))
}
