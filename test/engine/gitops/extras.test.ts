/** Keys that begin with x-: what anchors name, read by nobody and kept as it is written. */
import { expect, it } from 'vitest'
import { compose } from '../../../engine/gitops/compose.ts'
import { pullInto, withFiles } from '../../../engine/gitops/pull.ts'
import { createEngine, formatCatalog } from '../../../engine/local.ts'
import type { Catalog } from '../../../schemas/types.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const open = () => createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })

const EXTRA = `# What all of ours have.
x-labels: &labels
  - { name: service,  field: service, primary: true } # as it is
x-slow: &slow { window: 5m, aggregate: count }
`
const TEXT = `${EXTRA}
sources:
  - name: gateway
    connector: webhook
    config: { labels: *labels }
triggers:
  - name: errors
    sources: [gateway]
    condition:
      <<: *slow
      predicate: "> 5"
`
const put = (files: Record<string, string>) =>
  compose({ roots: [{ name: 'shop', files: Object.entries(files).map(([path, text]) => ({ path, text })) }] })

it('are no problem and no part, of sections, of one part and of an environment', () => {
  const { catalog, problems } = put({ 'a.yaml': TEXT })
  expect(problems).toEqual([])
  expect(catalog).toEqual({
    sources: [
      {
        ...{ name: 'gateway', connector: 'webhook' },
        config: { labels: [{ name: 'service', field: 'service', primary: true }] },
      },
    ],
    triggers: [
      {
        ...{ name: 'errors', sources: ['gateway'] },
        condition: { window: '5m', aggregate: 'count', predicate: '> 5' },
      },
    ],
  })
  const one = `kind: source\n${EXTRA}name: gateway\nconnector: webhook\nconfig: { labels: *labels }\n`
  expect(put({ 'a.yaml': one }).catalog!.sources).toEqual(catalog!.sources)
  expect(put({ 'a.yaml': 'y-labels: []\n' }).problems).toHaveLength(1)
})

it('stay to the byte in a pull, also where the parts that they were for say something else', () => {
  const one = `kind: source\n${EXTRA}name: gateway\nconnector: webhook\nconfig: { labels: *labels }\n`
  for (const text of [TEXT, one]) {
    const composed = put({ 'a.yaml': text })
    const current = structuredClone(composed.catalog) as Catalog
    current.sources![0]!.config = { labels: [{ name: 'service', field: 'svc', primary: true }] }
    const { files, notPulled } = pullInto(composed, current, (changed) =>
      compose(withFiles({ roots: [{ name: 'shop', files: [{ path: 'a.yaml', text }] }] }, changed)),
    )
    expect(notPulled).toEqual([])
    expect(files[0]!.after).toContain(EXTRA)
    expect(put({ 'a.yaml': files[0]!.after! }).catalog!.sources).toEqual(current.sources)
  }
})

it('are laid out as all else is, and lose nothing', () => {
  const { text } = formatCatalog({ path: 'a.yaml', text: TEXT })
  expect(text).toContain('# What all of ours have.\nx-labels: &labels\n')
  expect(put({ 'a.yaml': text }).catalog).toEqual(put({ 'a.yaml': TEXT }).catalog)
})

it('are remembered with their file, and exported with it, but never with a secret that a part takes of them', async () => {
  const engine = open()
  const yaml = `${EXTRA}x-auth: &auth CANARY-7
catalog: shop
sources:
  - { name: gateway, connector: webhook, config: { labels: *labels } }
mcp_servers:
  - { name: runbooks, url: "https://example.com/mcp", auth_value: *auth }
`
  await engine.importCatalog({ yaml }, BY)
  expect(await engine.exportCatalog()).not.toContain('CANARY')
  const { files } = await engine.catalogDrift()
  expect(files.map(({ plan }) => plan!.changes)).toEqual([[]])
  const plain = yaml.replace('CANARY-7', `\${SVC_SECRET_MCP}`)
  await engine.importCatalog({ yaml: plain }, BY)
  expect(await engine.exportCatalog()).toBe(plain)
})
