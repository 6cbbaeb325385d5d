/** The webhook of a GitHub App: every kind of the examples that GitHub's own library ships, as one source. */
import examples from '@octokit/webhooks-examples'
import { describe, expect, it } from 'vitest'
import type { PreparedEvent } from '../../../../../engine/log/ingest/packed.ts'
import { compileSource } from '../../../../../engine/log/ingest/prepare.ts'
import { splitBody } from '../../../../../engine/log/ingest/split.ts'
import { githubApp } from '../../../../../engine/sources/connectors/github-app.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

function delivered(name: string, payload: unknown, config: Record<string, unknown> = {}): PreparedEvent[] {
  const prepare = compileSource(githubApp, { signature_secret: 'x', ...config })
  const headers = { 'x-github-event': name, 'x-github-delivery': 'd-1' }
  const events: PreparedEvent[] = []
  const take = (item: Parameters<Parameters<typeof splitBody>[1]>[0]) =>
    events.push(...prepare(item, headers, item.index, NOW))
  splitBody(Buffer.from(JSON.stringify(payload)), take, prepare.projection)
  return events
}

interface Payload {
  action?: string
  repository?: { full_name: string }
  sender?: { login: string }
}
const all = examples.flatMap(({ name, examples: payloads }) =>
  payloads.map((payload) => [name as string, payload as unknown as Payload] as const),
)
const labelsOf = (name: string, wanted: (payload: Payload) => boolean = () => true) => {
  const [, payload] = all.find(([kind, one]) => kind === name && wanted(one))!
  return Object.fromEntries(delivered(name, payload)[0]!.strings)
}

describe('a delivery to an app', () => {
  it('is an event of its kind in all 58 kinds, with a sentence, whom it is about, and who did it', () => {
    expect(new Set(all.map(([name]) => name)).size).toBe(58)
    for (const [name, payload] of all) {
      const [event, ...more] = delivered(name, payload)
      const labels = Object.fromEntries(event!.strings)
      expect(more).toEqual([])
      expect(event!.eventType).toBe(name)
      expect(event!.text).not.toMatch(/[{}"]|undefined|null|\[object/)
      expect(labels.repo).toBe(payload.repository?.full_name)
      expect(labels.actor).toBe(payload.sender?.login)
      expect(labels.action?.replace('merged', 'closed')).toBe(payload.action)
      if (payload.repository) expect(labels.key!.split('#')[0]).toBe(payload.repository.full_name)
      for (const [label, value] of Object.entries(labels)) expect([label, value]).not.toEqual([label, ''])
      if (labels.sha) expect(labels.sha).toMatch(/^[0-9a-f]{40}$/)
      if (labels.url) expect(labels.url).toMatch(/^https?:\/\//)
    }
  })

  it('has the labels that the github connector gives commits and pull requests', () => {
    expect(labelsOf('pull_request', ({ action }) => action === 'opened')).toMatchObject({
      ...{
        key: 'Codertocat/Hello-World#2',
        repo: 'Codertocat/Hello-World',
        author: 'Codertocat',
        number: '2',
      },
      ...{ action: 'opened', branch: 'changes', base: 'master', state: 'open', draft: 'false' },
      sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
      title: 'Update the README with new information.',
    })
    expect(labelsOf('push', (one) => (one as { ref?: string }).ref === 'refs/heads/master')).toMatchObject({
      ...{ key: 'Codertocat/Hello-World', branch: 'master' },
    })
    expect(labelsOf('check_run', ({ action }) => action === 'completed')).toMatchObject({
      ...{ conclusion: 'failure', branch: 'changes', number: '2' },
    })
    expect(labelsOf('release')).toMatchObject({ release_tag: '0.0.1', author: 'Codertocat' })
    expect(labelsOf('workflow_run')).toMatchObject({
      workflow: expect.any(String),
      branch: expect.any(String),
    })
    expect(labelsOf('issue_comment')).toMatchObject({ number: '1', author: 'Codertocat', action: 'created' })
  })

  it('is left out where its repository or its kind is not asked for', () => {
    const push = all.find(([name]) => name === 'push')!
    const kept = (config: object) => delivered(...push, config as Record<string, unknown>).length
    expect(kept({ repositories: ['codertocat/hello-world'] })).toBe(1)
    expect(kept({ repositories: ['other/one', 'Codertocat/*'] })).toBe(1)
    expect(kept({ repositories: ['other/one'] })).toBe(0)
    expect(kept({ events: ['issues', 'push'] })).toBe(1)
    expect(kept({ events: ['issues'] })).toBe(0)
    // Of an organisation, and so of no repository.
    const [name, payload] = all.find(([, one]) => one.repository === undefined)!
    expect(delivered(name, payload, { repositories: ['other/one'] })).toHaveLength(1)
  })

  it('that is none of GitHub is an event all the same, so that nothing that was signed is lost', () => {
    const prepare = compileSource(githubApp, { signature_secret: 'x' })
    const events: PreparedEvent[] = []
    splitBody(
      Buffer.from('{"hello":"there"}'),
      (item) => events.push(...prepare(item, {}, item.index, NOW)),
      prepare.projection,
    )
    expect(events[0]).toMatchObject({ eventType: 'delivery', text: expect.stringContaining('there') })
  })
})
