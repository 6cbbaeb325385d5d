/** Webhook deliveries of GitHub: all kinds of the examples GitHub's own library ships. */
import examples from '@octokit/webhooks-examples'
import { describe, expect, it } from 'vitest'
import type { PreparedEvent } from '../../../../../engine/log/ingest/packed.ts'
import { compileSource } from '../../../../../engine/log/ingest/prepare.ts'
import { splitBody } from '../../../../../engine/log/ingest/split.ts'
import { webhook } from '../../../../../engine/sources/connectors/webhook.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

function delivered(name: string, payload: unknown, config: Record<string, unknown> = {}): PreparedEvent {
  const prepare = compileSource(webhook, config)
  const headers = { 'x-github-event': name, 'x-github-delivery': 'd-1' }
  const events: PreparedEvent[] = []
  const take = (item: Parameters<Parameters<typeof splitBody>[1]>[0]) =>
    events.push(...prepare(item, headers, item.index, NOW))
  splitBody(Buffer.from(JSON.stringify(payload)), take, prepare.projection)
  expect(events).toHaveLength(1)
  return events[0]!
}

interface Payload {
  action?: string
  repository?: { full_name: string }
  sender?: { login: string }
}
const all = examples.flatMap(({ name, examples: payloads }) =>
  payloads.map((payload) => [name as string, payload as unknown as Payload] as const),
)
const example = (name: string, wanted: (payload: Record<string, never>) => boolean = () => true) =>
  all.find(([kind, payload]) => kind === name && wanted(payload as never))![1]

/** Kinds whose payloads hold no time of what happened: they are put at the time of their arrival. */
const WITHOUT_TIME = [
  'github_app_authorization',
  'gollum',
  'installation_repositories',
  'label',
  'marketplace_purchase',
  'member',
  'membership',
  'org_block',
  'organization',
  'repository_dispatch',
  'repository_import',
  'team',
  'team_add',
  'workflow_dispatch',
]
const GONE = ['deleted', 'removed', 'removed_from_repository']

describe('a delivery of GitHub', () => {
  it('is there in all 58 kinds, each with a sentence, its type, and repository, actor and number as labels', () => {
    expect(new Set(all.map(([name]) => name)).size).toBe(58)
    for (const [name, payload] of all) {
      const { eventType, text, strings } = delivered(name, payload)
      const labels = Object.fromEntries(strings)
      expect(eventType).toMatch(new RegExp(`^${name}(\\.[a-z_-]+)?$`))
      expect(text).not.toMatch(/[{}"]|undefined|null|\[object|: $| {2}|#(\D|$)/)
      expect(text.split(' ').length).toBeGreaterThan(2)
      if (payload.repository) expect(text.startsWith(`${payload.repository.full_name}: `)).toBe(true)
      expect(labels.repository).toBe(payload.repository?.full_name)
      expect(labels.actor).toBe(payload.sender?.login)
      const thing = (payload as Record<string, { number?: number }>)[
        name.startsWith('issue') ? 'issue' : name
      ]
      if (thing?.number && /^(pull_request|issue|discussion)/.test(name))
        expect(labels.number).toBe(String(thing.number))
    }
  })

  it('is told where its kind, its action or a state is a name that every object inherits', () => {
    const odd = 'constructor'
    const review = { action: 'submitted', review: { state: odd }, pull_request: { number: 1, title: 'One' } }
    for (const [kind, payload] of [
      [odd, { action: odd, [odd]: { name: 'One' } }],
      ['issues', { action: odd, issue: { number: 1, title: 'One' } }],
      ['pull_request_review', review],
    ] as const) {
      const { text } = delivered(kind, payload)
      expect(text).toMatch(/One|PR #1 reviewed/)
      expect(text).not.toMatch(/function|object Object/)
    }
  })

  it('is put at its own time wherever its payload has one, not at its arrival', () => {
    const without = all.filter(([name, payload]) => delivered(name, payload).ts === null)
    const unexpected = without.filter(
      ([name, { action = '' }]) => !WITHOUT_TIME.includes(name) && !GONE.includes(action),
    )
    // A run that was asked for again holds the times of the run before.
    const kinds = unexpected.map(([name, { action }]) => `${name}.${action}`)
    expect(new Set(kinds)).toEqual(new Set(['check_run.requested_action', 'check_run.rerequested']))
  })

  it.each<[string, string, (payload: Record<string, never>) => boolean, Partial<PreparedEvent>]>([
    [
      'a pull request that was opened',
      'pull_request',
      ({ action }) => action === 'opened',
      {
        eventType: 'pull_request.opened',
        text: 'Codertocat/Hello-World: PR #2 opened: Update the README with new information. (Codertocat)',
        ts: Date.parse('2019-05-15T15:20:33Z'),
      },
    ],
    [
      'an issue that got a label',
      'issues',
      ({ action }) => action === 'labeled',
      {
        eventType: 'issues.labeled',
        text: 'Codertocat/Hello-World: Issue #1 labeled bug: Spelling error in the README file (Codertocat)',
      },
    ],
    [
      'a push',
      'push',
      ({ ref, deleted }) => String(ref).startsWith('refs/tags/') && deleted === false,
      {
        eventType: 'push',
        text: 'Codertocat/Hello-World: Codertocat pushed tag simple-tag: Adding a .gitignore file',
        ts: 1_557_933_657_000,
      },
    ],
    [
      'a job that failed',
      'workflow_job',
      ({ action }) => action === 'completed',
      { text: 'Codertocat/Hello-World: Job linters failure on main', ts: Date.parse('2021-08-05T10:38:16Z') },
    ],
    [
      'a comment that is gone, whose own time is another',
      'issue_comment',
      ({ action }) => action === 'deleted',
      {
        text: "Codertocat/Hello-World: Codertocat deleted a comment on issue #1: You are totally right! I'll get this fixed today.",
        ts: null,
      },
    ],
  ])('says what happened: %s', (_what, name, wanted, expected) => {
    expect(delivered(name, example(name, wanted))).toMatchObject(expected)
  })

  it('says that a closed pull request was merged, and is of its entity', () => {
    const opened = example('pull_request', ({ action }) => action === 'closed') as Payload & {
      pull_request: object
    }
    const payload = { ...opened, pull_request: { ...opened.pull_request, merged: true } }
    expect(delivered('pull_request', payload)).toMatchObject({
      eventType: 'pull_request.merged',
      text: 'Codertocat/Hello-World: PR #2 merged into master: Update the README with new information.',
      hasEntity: true,
    })
    expect(delivered('pull_request', payload).strings).toEqual([
      ['key', 'Codertocat/Hello-World#2'],
      ['repository', 'Codertocat/Hello-World'],
      ['actor', 'Codertocat'],
      ['number', '2'],
      ['action', 'merged'],
    ])
  })

  it('is what the config says wherever it says something', () => {
    const payload = example('issues', ({ action }) => action === 'opened')
    const event = delivered('issues', payload, {
      event_type_field: 'issue.state',
      text_template: 'mine: {issue.title}',
      event_time_field: 'repository.created_at',
      labels: [
        { name: 'repository', field: 'repository.name', primary: true },
        { name: 'thread', field: 'key' },
      ],
    })
    expect(event).toMatchObject({
      eventType: 'open',
      text: 'mine: Spelling error in the README file',
      claimed: null,
      ts: Date.parse('2019-05-15T15:19:25Z'),
    })
    expect(event.strings.slice(0, 2)).toEqual([
      ['repository', 'Hello-World'],
      ['thread', 'Codertocat/Hello-World#1'],
    ])
    expect(delivered('issues', payload, { event_type: 'ours' }).eventType).toBe('ours')
  })

  it('of any shape is an event', () => {
    for (const [name, payload] of [
      ['push', {}],
      ['pull_request', { action: 'opened', pull_request: null }],
      ['gollum', { pages: [null] }],
      ['not yet known', { action: 'made' }],
      ['future_kind', { action: 'made', future_kind: { name: 'x' }, sender: { login: 'me' } }],
      ['issues', [1]],
    ] as const)
      expect(delivered(name, payload).text).not.toBe('')
    expect(delivered('future_kind', { action: 'made', future_kind: { name: 'x' } }).text).toBe(
      'GitHub made future kind x',
    )
  })
})
