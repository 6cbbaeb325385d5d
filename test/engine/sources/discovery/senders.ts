/**
 * What the payloads of 17 senders should read as on a timeline, written by hand from reading each: the payloads of
 * vendors.json (documented forms, shortened), and two deliveries of GitHub from @octokit/webhooks-examples.
 */
import examples from '@octokit/webhooks-examples'
import vendors from './vendors.json' with { type: 'json' }

/** A row that is right: where a person would take either of two, both are named. */
export interface Row {
  entity: string | string[]
  type: string | string[]
  /** ISO 8601, UTC. */
  time: string
  /** What its text says at least, readable and without raw JSON. */
  text: string[]
}

export interface Sender {
  sender: string
  headers: Record<string, string>
  body: string
  rows: Row[]
}

const AT = '2026-09-21T14:13:20.000Z'

const EXPECTED: Record<string, Row[]> = {
  'Grafana alerting (2 alerts)': [
    { entity: 'checkout', type: 'firing', time: AT, text: ['This alert was triggered for zone us-1'] },
    { entity: 'cart', type: 'firing', time: AT, text: ['This alert was triggered for zone eu-1'] },
  ],
  'Sentry issue alert': [
    {
      entity: '1',
      type: ['triggered', 'error'],
      time: AT,
      text: ['ReferenceError: heck is not defined'],
    },
  ],
  'PagerDuty v3': [
    { entity: 'API Service', type: 'incident.triggered', time: AT, text: ['A little bump in the road'] },
  ],
  'Stripe event': [
    {
      entity: 'cus_9s6XKzkNRiz8i3',
      type: 'payment_intent.payment_failed',
      time: AT,
      text: ['Your card was declined.'],
    },
  ],
  'AWS SNS CloudWatch alarm': [
    {
      entity: ['HighCPU', 'i-0abc'],
      type: ['Notification', 'ALARM'],
      time: AT,
      text: ['ALARM: "HighCPU" in US West'],
    },
  ],
  'Datadog monitor': [
    {
      entity: ['web1', 'checkout'],
      type: 'metric_alert_monitor',
      time: AT,
      text: ['[Triggered] CPU high on host:web1'],
    },
  ],
  'GitLab pipeline': [
    {
      entity: 'gitlab-org/gitlab-test',
      type: 'pipeline',
      time: '2026-11-22T10:59:00.000Z',
      text: ['pipeline', 'failed'],
    },
  ],
  'Jira issue': [
    {
      entity: ['JRA', 'JRA-20002'],
      type: 'jira:issue_created',
      time: AT,
      text: ['I feel the need for speed'],
    },
  ],
  'Fluent Bit http output': [
    { entity: 'checkout', type: 'stderr', time: AT, text: ['ERROR payment timed out'] },
  ],
  'Vector http sink': [{ entity: 'web1', type: 'file', time: AT, text: ['GET /pay 500'] }],
  'Telegraf http output (json)': [{ entity: 'web1', type: 'cpu', time: AT, text: ['cpu', '3.1'] }],
  'CloudEvents 1.0': [
    {
      entity: 'order/17',
      type: 'com.acme.order.created',
      time: AT,
      text: ['com.acme.order.created', 'order/17'],
    },
  ],
  'Slack Events API': [{ entity: 'C1', type: 'message', time: AT, text: ['deploy checkout now'] }],
  'Kubernetes event': [
    { entity: 'checkout-7d9', type: 'BackOff', time: AT, text: ['Back-off restarting failed container'] },
  ],
  'Uptime Kuma': [
    {
      entity: 'checkout',
      // It has no type but the number of its state.
      type: ['0', 'webhook_event'],
      time: '2026-11-22T10:59:13.283Z',
      text: ['[checkout] [🔴 Down] connect ECONNREFUSED'],
    },
  ],
  'GitHub pull request, as JSON': [
    {
      entity: 'Codertocat/Hello-World#2',
      type: 'pull_request.opened',
      time: '2019-05-15T15:20:33.000Z',
      text: ['Update the README with new information.'],
    },
  ],
  'GitHub push, as a form': [
    {
      entity: 'Codertocat/Hello-World',
      type: 'push',
      time: '2019-05-15T15:20:57.000Z',
      text: ['Codertocat/Hello-World', 'simple-tag'],
    },
  ],
}

const example = (event: string): object =>
  (examples as { name: string; examples: object[] }[]).find(({ name }) => name === event)!.examples[0]!

const GITHUB: Omit<Sender, 'rows'>[] = [
  {
    sender: 'GitHub pull request, as JSON',
    headers: { 'content-type': 'application/json', 'x-github-event': 'pull_request' },
    body: JSON.stringify(example('pull_request')),
  },
  {
    sender: 'GitHub push, as a form',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-github-event': 'push' },
    body: `payload=${encodeURIComponent(JSON.stringify(example('push')))}`,
  },
]

export const SENDERS: Sender[] = [
  ...vendors.payloads.map(({ sender, headers, body }) => ({
    sender,
    headers: headers as unknown as Record<string, string>,
    body: JSON.stringify(body),
  })),
  ...GITHUB,
].map((one) => ({ ...one, rows: EXPECTED[one.sender]! }))
