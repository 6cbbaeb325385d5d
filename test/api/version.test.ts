import { expect, it } from 'vitest'
import { nodeRefusal } from '../../api/version.ts'
import manifest from '../../package.json' with { type: 'json' }

const needed = manifest.engines.node.replace('>=', '')

it.each(['18.19.1', '20.20.2', '22.9.0', '22.14.0'])(
  'Node %s is refused, with the one that is needed',
  (node) => expect(nodeRefusal(node)).toContain(`this is Node ${node}, and ${needed} or newer is needed`),
)

it.each([needed, '22.20.0', '24.0.0', process.versions.node])('Node %s is taken', (node) =>
  expect(nodeRefusal(node)).toBeNull(),
)
