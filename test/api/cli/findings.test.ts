/** `svc findings` and `svc usage`, against a real server whose model is scripted. */
import { expect, it } from 'vitest'
import { conclude, MINUTE, serveRuns } from '../../contract/served-runs.ts'
import { svc } from './cli-harness.ts'

const cellsOf = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/))

/** Three runs: two that found something, of which one is in a project of its own, and one that found nothing. */
async function served() {
  const { world, url } = await serveRuns()
  await world.agent({ name: 'first-look', trigger: 't', prompt: 'Look.', model: 'm1' })
  for (const [headline, more] of [
    ['Gateway down', { next_step: 'Call them.', summary: 'The gateway refuses.\n\nSince noon.' }],
    ['Nothing', { outcome: 'no_op' }],
    ['Disk full', {}],
  ] as const) {
    world.models.reply('m1', () => conclude({ headline, ...more }))
    await world.post({ service: headline.split(' ')[1] ?? 'cart', type: 'error', msg: headline })
    await world.settled()
    world.pass(MINUTE)
  }
  const ran = async (...words: string[]) => {
    const { code, out, err } = await svc([...words, '--svcd', url])
    return { code, out, err: err.trim() }
  }
  return { ran, url }
}

it('lists what was found, newest first; with --all what agents had nothing to report of, too', async () => {
  const { ran } = await served()
  const [head, ...lines] = cellsOf((await ran('findings')).out)
  expect(head).toEqual(['ID', 'WHEN', 'PROJECT', 'ENTITY', 'BY', 'STATE', 'WHAT'].toSpliced(5, 0, 'VERDICT'))
  expect(lines.map((cells) => cells.slice(2))).toEqual([
    ['Shop', 'service=full', 'first-look', 'open', 'Disk full'],
    ['Shop', 'service=down', 'first-look', 'open', 'Gateway down'],
  ])
  expect(cellsOf((await ran('findings', 'list', '--all')).out)).toHaveLength(4)
  const first = await ran('findings', 'list', '--limit', '1')
  expect(first.out).toContain('Disk full')
  expect(first.out).not.toContain('Gateway down')
  expect(first.err).toBe('the newest 1; --limit shows more')
  expect((await ran('findings', '--limit', '2')).err).toBe('')
  expect((await ran('findings', '--mark', 'wrong')).out).toBe('no findings\n')
  expect((await ran('findings', '--project', 'Shop')).out).toContain('Disk full')
  expect(await ran('findings', '--project', 'nope')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no project has the id or name nope'),
  })
  const json = JSON.parse((await ran('findings', '--limit', '1', '--json')).out) as {
    findings: { headline: string; project: string }[]
    is_more: boolean
  }
  expect(json).toMatchObject({ findings: [{ headline: 'Disk full' }], is_more: true })
})

it('goes on where a page of the daemon ends, which is a hundred', async () => {
  const { ran, url } = await served()
  const post = (path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { projects } = (await (await fetch(`${url}/api/projects`)).json()) as {
    projects: { id: string; name: string }[]
  }
  const { id } = projects.find(({ name }) => name === 'Shop')!
  for (let n = 1; n <= 100; n++)
    expect(
      (await post(`/api/projects/${id}/findings`, { entity: `e${n}`, finding: `Found ${n}.` })).status,
    ).toBe(201)
  expect(cellsOf((await ran('findings', '--limit', '101')).out)).toHaveLength(1 + 101)
  const all = await ran('findings', '--limit', '500')
  expect([cellsOf(all.out).length, all.err]).toEqual([1 + 102, ''])
})

it('shows one with its whole note, and marks it handled and no longer', async () => {
  const { ran } = await served()
  const [id = ''] = cellsOf((await ran('findings')).out)[2]!
  const shown = (await ran('findings', 'show', id)).out
  expect(shown).toContain('next     Call them.\n')
  expect(shown).toContain('\nThe gateway refuses.\n\nSince noon.\n')
  expect((await ran('findings', 'handle', id)).out).toBe(`${id}: handled by somebody\n`)
  expect(cellsOf((await ran('findings')).out)[2]).toContain('handled by somebody')
  expect((await ran('findings', 'reopen', id)).out).toBe(`${id}: open\n`)
  expect(await ran('findings', 'show', 'run_x')).toEqual({
    ...{ code: 1, out: '' },
    err: 'svc: no finding has the id run_x; "svc findings" lists them',
  })
})

it('tells of a deleted project, whose findings are read and no longer marked', async () => {
  const { ran } = await served()
  const [id = ''] = cellsOf((await ran('findings')).out)[1]!
  expect((await ran('projects', 'delete', 'Shop')).code).toBe(0)
  expect(cellsOf((await ran('findings')).out)[1]).toContain('Shop (deleted)')
  expect((await ran('findings', 'show', id)).out).toContain('project  Shop (deleted)\n')
  expect(await ran('findings', 'handle', id)).toEqual({
    ...{ code: 1, out: '' },
    err: `svc: finding ${id} is of project Shop, which was deleted; restore that to mark it handled, or no longer`,
  })
})

it('says what models were used for: in all, by what asked, by provider and by day', async () => {
  const { ran } = await served()
  const [head, ...lines] = cellsOf((await ran('usage')).out)
  expect(head).toEqual(['WHAT', 'CALLS', 'TOKENS IN', 'TOKENS OUT', 'COST'])
  expect(lines.map(([what, calls]) => [what, calls])).toEqual([
    ['all of it', '3'],
    ['agents', '3'],
    [expect.stringMatching(/^by /), '3'],
    [expect.stringMatching(/^\d{4}-\d\d-\d\d$/), '3'],
  ])
  expect(new Set(lines.map((cells) => cells.slice(1).join(' '))).size).toBe(1)
  expect((await ran('usage', 'list')).out).toBe((await ran('usage')).out)
  expect((await ran('usage', '--days', '0')).code).not.toBe(0)
})
