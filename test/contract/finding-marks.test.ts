/** A finding is marked right, wrong or partly right, with the event that was the true cause (issue 17, part 1). */
import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

let svc: Instance
let project: string
let result: string
let cause: string

startBeforeEach(async () => {
  svc = await startInstance()
  const made = await svc.post<{ id: string }>('/api/projects', {
    template: 'webhook_watch',
    name: 'Checkout',
    params: { service: 'checkout' },
  })
  project = made.id
  const source = await svc.get<{ ingest_key: string }>('/api/sources/checkout-events')
  const sent = await svc.post<{ ids: string[] }>(`/ingest/${source.ingest_key}`, {
    service: 'checkout',
    type: 'deployed',
    text: 'v2',
  })
  cause = sent.ids[0]!
  const found = await svc.post<{ run_id: string }>(`/api/projects/${project}/findings`, {
    entity: 'checkout',
    finding: 'The cache broke it.',
    agent: 'maria',
  })
  result = `/api/projects/${project}/results/${found.run_id}`
  return svc
})

const markOf = async () => (await svc.get<{ mark: Fields | null }>(result)).mark
const results = async (query: string) =>
  (await svc.get<{ results: Fields[] }>(`/api/projects/${project}/results?mark=${query}`)).results.length

describe('a mark', () => {
  it('says who marked it, when, what was the cause, and what it replaced', async () => {
    expect(await markOf()).toBeNull()
    const first = await svc.post(`${result}/mark`, { mark: 'wrong', cause, note: 'It was the deploy.' })
    const wrong = { mark: 'wrong', cause, note: 'It was the deploy.', at: expect.any(String) }
    expect(first).toMatchObject({ ok: true, before: null, mark: { ...wrong, by: 'no auth configured' } })
    expect(await markOf()).toMatchObject(wrong)
    expect(await svc.post(`${result}/mark`, { mark: 'partly' })).toMatchObject({
      before: wrong,
      mark: { mark: 'partly', cause: null, note: null },
    })
    expect(await svc.post(`${result}/mark`, { mark: null })).toMatchObject({ mark: null })
    expect(await markOf()).toBeNull()
  })

  it('is with the finding wherever it is listed, and narrows the list', async () => {
    await svc.post(`${result}/mark`, { mark: 'wrong', cause })
    const mark = expect.objectContaining({ mark: 'wrong', cause })
    const run = result.split('/').at(-1)
    expect(await svc.get(`/api/runs/${run}`)).toMatchObject({ mark })
    expect(await svc.get('/api/runs')).toMatchObject({ runs: [{ mark }] })
    expect(await svc.get(`/api/projects/${project}/findings`)).toMatchObject({ findings: [{ mark }] })
    expect(await svc.get(`/api/projects/${project}/results`)).toMatchObject({ results: [{ mark }] })
    const counts = await Promise.all(['wrong', 'any', 'right', 'none'].map(results))
    expect(counts).toEqual([1, 1, 0, 0])
    expect((await svc.refused('GET', `/api/projects/${project}/results?mark=good`))[0]).toBe(400)
  })

  it('is in the log of the project', async () => {
    await svc.post(`${result}/mark`, { mark: 'wrong', cause })
    const { change_sets } = await svc.get<{ change_sets: { summary: string; actor: string }[] }>(
      `/api/change-sets?project=${project}`,
    )
    expect(change_sets[0]!.summary).toBe(
      `marked finding ${result.split('/').at(-1)} as wrong: the cause was ${cause}`,
    )
  })

  it.each([
    [{ mark: 'wrong', cause: 'evt_999999' }, 400, 'cause: evt_999999 is no event that you may read'],
    [{ mark: null, note: 'why' }, 400, 'note and cause belong to a mark'],
    [{ mark: 'bad' }, 400, 'mark'],
    [{ mark: 'wrong', cause: 'the deploy' }, 400, 'cause'],
  ])('%j is refused, and nothing is marked', async (body, status, sentence) => {
    const [code, said] = await svc.refused('POST', `${result}/mark`, body)
    expect([code, said]).toEqual([status, expect.stringContaining(sentence)])
    expect(await markOf()).toBeNull()
  })

  it('of no result of the project answers 404', async () => {
    const [code] = await svc.refused('POST', `/api/projects/${project}/results/gone/mark`, { mark: 'right' })
    expect(code).toBe(404)
  })
})
