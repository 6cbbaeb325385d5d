import { describe, expect, it } from 'vitest'
import { copied, pasteCopies, pasteShared, readCopied } from '../../../console/graph/draft/clipboard.ts'
import { newDraft, operationsOf, undone, withStep } from '../../../console/graph/draft/draft.ts'
import type { PartRef } from '../../../console/graph/draft/ids.ts'
import { shop } from './graphs.ts'

const ids = ['source:gw', 'trigger:errs', 'agent:triage', 'agent:digger', 'wakes:errs>triage']
const text = JSON.stringify(copied(shop(), ids))

const SPECS: Record<string, Record<string, unknown>> = {
  'source:gw': { connector: 'webhook', config: { token: 'masked', labels: [] } },
  'trigger:errs': { sources: ['gw', 'db'], condition: { event: 'any' } },
  'agent:triage': { prompt: 'Look.', verdicts: [{ verdict: 'investigate' }] },
  'agent:digger': { prompt: 'Dig.', mcp_servers: ['tickets'], tools: [{ server: 'tickets', tool: '*' }] },
}
const declaredOf = ({ kind, name }: PartRef) => ({
  spec: SPECS[`${kind}:${name}`]!,
  secretFields: kind === 'source' ? ['/config/token'] : [],
})

describe('parts on the clipboard', () => {
  it('are names and wiring alone', () => {
    expect(JSON.parse(text)).toEqual({
      format: 'svc-parts',
      version: 1,
      project: 'uc_1',
      parts: [
        { kind: 'source', name: 'gw' },
        { kind: 'trigger', name: 'errs' },
        { kind: 'agent', name: 'triage' },
        { kind: 'agent', name: 'digger' },
      ],
      wakes: [{ trigger: 'errs', agent: 'triage', enabled: true }],
      handoffs: [{ agent: 'triage', verdict: 'investigate', to: 'digger', cooldown: '30m' }],
    })
    expect(copied(shop(), ['wakes:errs>triage'])).toBeNull()
    // Selected still, though the step that made it was undone.
    expect(copied(shop(), ['trigger:errs-2'])).toBeNull()
    expect(copied(shop(), ['trigger:errs-2', 'source:gw'])?.parts).toEqual([{ kind: 'source', name: 'gw' }])
    expect(readCopied(text)).toEqual(JSON.parse(text))
  })

  it('are not read from other text', () => {
    const other = ['', 'hello', '[]', '{"format":"svc-parts","version":2,"parts":[]}', 'null']
    expect(other.map(readCopied)).toEqual(other.map(() => null))
    expect(readCopied(text.replace('"source"', '"view"'))).toBeNull()
  })

  it('are shared with another project, wired as they were', () => {
    const other = { ...shop(), project: { ...shop().project, id: 'uc_2' }, nodes: [], edges: [] }
    expect(pasteShared(other, readCopied(text)!).operations).toEqual([
      {
        op: 'patch',
        kind: 'project',
        name: 'uc_2',
        spec: {
          uses: { source: { gw: {} }, trigger: { errs: {} }, agent: { triage: {}, digger: {} } },
          wakes: { errs: { triage: { enabled: true } } },
          handoffs: { triage: { investigate: { digger: { cooldown: '30m' } } } },
        },
      },
    ])
  })

  it('become copies with names that are free, wired among themselves; secrets are not copied', () => {
    const taken = new Set(['trigger:errs', 'trigger:errs-2', 'agent:triage', 'agent:digger', 'source:gw'])
    const { step, ids: made, secretless } = pasteCopies(shop(), readCopied(text)!, declaredOf, taken)
    expect(made).toEqual(['source:gw-2', 'trigger:errs-3', 'agent:triage-2', 'agent:digger-2'])
    expect(secretless).toEqual(['source:gw-2'])
    expect(step.operations.map(({ spec }) => spec)).toEqual([
      { connector: 'webhook', config: { labels: [] } },
      { sources: ['gw-2', 'db'], condition: { event: 'any' } },
      { prompt: 'Look.', verdicts: [{ verdict: 'investigate' }] },
      { prompt: 'Dig.', mcp_servers: ['tickets'], tools: [{ server: 'tickets', tool: '*' }] },
      {
        wakes: { 'errs-3': { 'triage-2': { enabled: true } } },
        handoffs: { 'triage-2': { investigate: { 'digger-2': { cooldown: '30m' } } } },
      },
    ])
    expect(operationsOf(undone(withStep(newDraft(1), step)))).toEqual([])
  })
})
