/** A wrong finding becomes a scenario in a minute, with no customer name in it (issue 17, done when 6). */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ScenarioFile, ScenarioPreview } from '../../schemas/types.ts'
import { svc as command } from '../api/cli/cli-harness.ts'
import { type Instance, startInstance, T0 } from './instance.ts'

let svc: Instance
let run: string
let project: string
/** Of the deploy and of an error. */
let ids: string[]

const at = (seconds: number) => new Date(T0 + seconds * 1000).toISOString()
const preview = (body: object = {}) => svc.post<ScenarioPreview>(`/api/runs/${run}/scenario`, body)
const file = (body: object = {}) => svc.post<ScenarioFile>(`/api/runs/${run}/scenario/file`, body)
const mark = (body: object) => svc.post(`/api/projects/${project}/results/${run}/mark`, body)

/** An instance with a run to make a scenario of. @param pages info events besides the deploy, the error and the later change. */
async function begin(pages: number): Promise<void> {
  svc = await startInstance()
  project = (await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop' })).id
  const labels = ['service', 'customer'].map((name) => ({ name, field: name, primary: name === 'service' }))
  const config = { event_type_field: 'type', event_time_field: 'at', text_template: '{text}', labels }
  const made = await svc.post<{ ingest_key: string }>('/api/sources', {
    ...{ name: 'app', connector: 'webhook', project, config },
  })
  const lines = [
    { type: 'deployed', text: 'deployed v2 for ada@acme.example of Acme Ltd', at: at(-600) },
    { type: 'error', text: 'price is negative for Acme Ltd', customer: 'Acme Ltd', at: at(-300) },
    { type: 'config_set', text: 'log sampling set to 5', at: at(-50) },
    ...Array.from({ length: pages }, (_, i) => ({
      type: 'info',
      text: `served page ${i % 60}`,
      at: at(-600 + (i % 60) * 10),
    })),
  ]
  for (let from = 0; from < lines.length; from += 5_000)
    await svc.post(
      `/ingest/${made.ingest_key}`,
      lines.slice(from, from + 5_000).map((line) => ({ service: 'shop', ...line })),
    )
  ids = ['evt_1', 'evt_2']
  const found = await svc.post<{ run_id: string }>(`/api/projects/${project}/findings`, {
    ...{ entity: 'shop', finding: 'The price of Acme Ltd is wrong.', agent: 'maria' },
    claims: [{ text: 'The price.', events: [ids[1]], quote: 'price is negative', role: 'cause' }],
  })
  run = found.run_id
}

describe('a scenario made from a run', () => {
  beforeAll(() => begin(60))
  afterAll(() => svc.stop())

  it('proposes the causes of claims that hold, and before them the event that a mark names', async () => {
    expect(await preview()).toMatchObject({ cause_from: 'claims', causes: [[{ id: ids[1] }]] })
    await mark({ mark: 'wrong' })
    expect(await preview()).toMatchObject({ cause_from: 'none', causes: [], checked: 'none', unfit: [] })
    expect((await svc.refused('POST', `/api/runs/${run}/scenario/file`, {}))[1]).toContain(
      'no cause is known of this run; say which events show it',
    )
    await mark({ mark: 'wrong', cause: ids[0] })
    expect(await preview()).toMatchObject({ cause_from: 'mark', causes: [[{ id: ids[0] }]], unfit: [] })
  })

  it('is shown without a check where none is asked for', async () => {
    const { checked: _, unfit: __, ...held } = await preview({ causes: [[ids[0]]] })
    expect(await preview({ causes: [[ids[0]]], check: false })).toEqual({
      ...held,
      ...{ checked: 'none', unfit: [] },
    })
  })

  it('shows what would leave: counts, size, and what is replaced by stand-ins', async () => {
    expect(await preview({ causes: [[ids[0]]] })).toMatchObject({
      ...{ checked: 'runs', unfit: [] },
      ...{ events: 63, kept: 63, sources: [{ source: 'app', events: 63 }] },
      replaced: [
        { kind: 'customer', names: 1 },
        { kind: 'email', names: 1 },
      ],
      bytes: expect.any(Number),
    })
    expect(JSON.stringify(await preview())).not.toMatch(/Acme|acme\.example/)
  })

  it('is refused as svc evals check refuses it, by what scripted agents find in it', async () => {
    // The change after it began is what an agent names that knows nothing.
    const newest = await preview({ causes: [['evt_3']] })
    expect(newest).toMatchObject({
      checked: 'runs',
      unfit: expect.arrayContaining(['newest-change finds the cause without knowing anything']),
    })
  })

  it('holds no name of a customer, and nothing of what was found', async () => {
    const text = JSON.stringify(await file({ causes: [[ids[0]]] }))
    expect(text).toContain('deployed v2 for user-1@example.invalid of customer-1')
    expect(text).not.toMatch(/Acme|acme\.example|The price of/)
    expect(JSON.stringify(await file({ causes: [[ids[0]]], keep: ['customer'] }))).toContain('Acme Ltd')
    expect(JSON.stringify(await file({ causes: [[ids[0]]], replace: ['deployed'] }))).toContain('name-1 v2')
  })

  it('is a file that svc evals reads and finds fit', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scenario-'))
    const path = join(folder, `${run}.scenario.json`)
    writeFileSync(path, JSON.stringify(await file({ causes: [[ids[0]]], effects: [ids[1]] })))
    for (const pack of [folder, path]) {
      const { code, out } = await command(['evals', 'check', '--pack', pack, '--noise', '0'])
      expect([code, out]).toEqual([0, '1 of 1 scenario is fit\n'])
    }
  })

  it('where there was nothing to find expects no finding', async () => {
    expect((await file({ causes: [] })).truth).toMatchObject({ outcome: 'no_op', facts: [] })
  })

  it.each([
    [{ causes: [['evt_999999']] }, 'evt_999999 is none of the events that the run could read'],
    [{ causes: 'the deploy' }, 'causes'],
  ])('%j is refused', async (body, sentence) => {
    const [status, said] = await svc.refused('POST', `/api/runs/${run}/scenario`, body)
    expect([status, said]).toEqual([400, expect.stringContaining(sentence)])
  })
})

describe('a scenario of more than 20,000 events', () => {
  beforeAll(() => begin(20_100))
  afterAll(() => svc.stop())

  it('is looked through by its first message alone: no agent runs over it', async () => {
    expect(await preview({ causes: [[ids[0]]] })).toMatchObject({
      ...{ checked: 'first_message', events: 20_103, unfit: [] },
    })
  })

  it('and is not fit where whoever knows nothing would name the cause', async () => {
    expect(await preview({ causes: [['evt_3']] })).toMatchObject({
      checked: 'first_message',
      unfit: [expect.stringContaining('newest-change')],
    })
  })
})
