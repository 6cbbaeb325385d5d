/**
 * Payloads that the rules of discovery were not written from, in the documented forms of their senders, shortened,
 * with times of this year: Heroku, App webhook events; CircleCI, Webhooks reference, workflow-completed; Azure
 * Monitor, common alert schema; Amazon S3, event message structure; Opsgenie, webhook of an alert; SendGrid, event
 * webhook; Linear, webhooks; and GitHub from @octokit/webhooks-examples without the header that tells what it is.
 */
import examples from '@octokit/webhooks-examples'
import type { Sender } from './senders.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const example = (event: string): unknown =>
  (examples as { name: string; examples: object[] }[]).find(({ name }) => name === event)!.examples[0]

const HEROKU = {
  action: 'create',
  actor: { email: 'user-0165@example.com', id: '33500732-3b64-436f-9710-64cc569c3e4f' },
  created_at: '2026-10-26T22:48:45Z',
  id: '7846bee9-b017-4492-9bed-34cd8327e71d',
  data: {
    app: { id: 'd2f24bd2-399a-4868-9467-bc0ba2411cc2', name: 'sample-app-0084' },
    id: '25bfb830-8c4a-49e1-b0a3-831da386de90',
    name: 'DATABASE',
    created_at: '2026-10-26T22:48:45Z',
    updated_at: '2026-10-26T22:48:45Z',
    web_url: 'https://postgres.localhost/discover?hid=resource17@localhost',
  },
  previous_data: {},
  published_at: null,
  resource: 'addon-attachment',
  sequence: null,
  updated_at: '2026-10-26T22:48:45Z',
  version: 'application/vnd.heroku+json; version=3',
  webhook_metadata: {
    attempt: { id: '8a44f820-2354-489d-9a11-a793cbf49979' },
    event: { id: '7846bee9-b017-4492-9bed-34cd8327e71d', include: 'api:addon-attachment' },
  },
}

const CIRCLECI = {
  id: '3888f21b-eaa7-38e3-8f3d-75a63bba8895',
  type: 'workflow-completed',
  happened_at: '2026-09-01T22:49:34.317Z',
  webhook: { id: 'cf8c4fdd-0587-4da1-b4ca-4846e9640af9', name: 'Sample Webhook' },
  project: {
    id: '84996744-a854-4f5e-aea3-04e2851dc1d2',
    name: 'webhook-service',
    slug: 'github/circleci/webhook-service',
  },
  organization: { id: 'f22b6566-597d-46d5-ba74-99ef5bb3d85c', name: 'circleci' },
  workflow: {
    id: 'fda08377-fe7e-46b1-8992-3a7aaecac9c3',
    name: 'build-test-deploy',
    created_at: '2026-09-01T22:49:03.616Z',
    stopped_at: '2026-09-01T22:49:34.170Z',
    url: 'https://app.circleci.com/pipelines/github/circleci/webhook-service/130/workflows/fda08377',
    status: 'success',
  },
  pipeline: { id: '1285fe1d-d3a6-44fc-8886-8979558254c4', number: 130 },
}

const AZURE = {
  schemaId: 'azureMonitorCommonAlertSchema',
  data: {
    essentials: {
      alertId: '/subscriptions/1/providers/Microsoft.AlertsManagement/alerts/b9569717',
      alertRule: 'WCUS-R2-Gen2',
      severity: 'Sev3',
      signalType: 'Metric',
      monitorCondition: 'Fired',
      monitoringService: 'Platform',
      configurationItems: ['wcus-r2-gen2'],
      originAlertId: '3f2d4487-b0fc-4125-8bd5-7ad17384221e',
      firedDateTime: '2026-03-22T13:58:24.3713213Z',
      description: 'CPU of the machine is above 80 percent',
      essentialsVersion: '1.0',
      alertContextVersion: '1.0',
    },
    alertContext: { conditionType: 'SingleResourceMultipleMetricCriteria' },
  },
}

const s3 = (key: string) => ({
  eventVersion: '2.1',
  eventSource: 'aws:s3',
  awsRegion: 'us-west-2',
  eventTime: '2026-09-01T00:00:00.000Z',
  eventName: 'ObjectCreated:Put',
  userIdentity: { principalId: 'AIDAJDPLRKLG7UEXAMPLE' },
  requestParameters: { sourceIPAddress: '127.0.0.1' },
  s3: {
    s3SchemaVersion: '1.0',
    configurationId: 'testConfigRule',
    bucket: { name: 'amzn-s3-demo-bucket', arn: 'arn:aws:s3:::amzn-s3-demo-bucket' },
    object: { key, size: 1024, eTag: 'd41d8cd98f00b204e9800998ecf8427e' },
  },
})

const OPSGENIE = {
  action: 'Create',
  alert: {
    alertId: '44f717bf-44bd-11c9-44c7-2d0cf1d07b23',
    message: 'Disk of db-1 is almost full',
    tags: ['disk', 'db'],
    tinyId: '28',
    entity: 'db-1',
    alias: 'disk-db-1',
    createdAt: 1790000000000,
    updatedAt: 1790000000000000,
    username: 'monitoring@example.com',
    description: 'At 95 %',
    team: 'storage',
    source: 'monitoring',
    priority: 'P2',
  },
  source: { name: '', type: 'API' },
  integrationName: 'Storage',
  integrationId: '37c8f316-17c6-49d7-899b-9c7e540c048d',
}

const SENDGRID = [
  {
    email: 'a@example.com',
    timestamp: 1790000000,
    'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>',
    event: 'deferred',
    category: 'receipts',
    sg_event_id: 'c2dfZXZlbnRfaWQtMQ',
    sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
    response: '400 try again later',
    attempt: '5',
  },
  {
    email: 'b@example.com',
    timestamp: 1790000060,
    'smtp-id': '<14c5d75ce93.dfd.64b470@ismtpd-555>',
    event: 'delivered',
    category: 'receipts',
    sg_event_id: 'c2dfZXZlbnRfaWQtMg',
    sg_message_id: '14c5d75ce93.dfd.64b470.filter0001.16648.5515E0B88.0',
    response: '250 OK',
  },
]

const LINEAR = {
  action: 'create',
  actor: { id: 'b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba', type: 'user', name: 'Ada', email: 'ada@example.com' },
  createdAt: '2026-01-23T12:53:18.084Z',
  data: {
    id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9',
    createdAt: '2026-01-23T12:53:18.084Z',
    updatedAt: '2026-01-23T12:53:18.084Z',
    identifier: 'ENG-123',
    number: 123,
    title: 'Login form does not submit',
    priority: 1,
    priorityLabel: 'Urgent',
    state: { id: '0a1c2d3e', name: 'Todo', type: 'unstarted' },
    team: { id: '72b2a2dc-6f4f-4423-9d34-24b5bd10634a', key: 'ENG', name: 'Engineering' },
  },
  type: 'Issue',
  url: 'https://linear.app/issue/ENG-123',
  organizationId: '5c8f9e7d',
  webhookTimestamp: 1769172798100,
  webhookId: '9d1f8a70',
}

const one = (sender: string, body: unknown, ...rows: Sender['rows']): Sender => ({
  sender,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
  rows,
})

const HELLO = 'Codertocat/Hello-World'

export const HELD_OUT: Sender[] = [
  one('Heroku', HEROKU, {
    entity: 'sample-app-0084',
    type: ['create', 'addon-attachment', 'api:addon-attachment'],
    time: '2026-10-26T22:48:45.000Z',
    text: ['create', 'sample-app-0084'],
  }),
  one('CircleCI', CIRCLECI, {
    entity: ['webhook-service', 'github/circleci/webhook-service'],
    type: 'workflow-completed',
    time: '2026-09-01T22:49:34.317Z',
    text: ['workflow-completed', 'success'],
  }),
  one('Azure Monitor', AZURE, {
    entity: ['WCUS-R2-Gen2', 'wcus-r2-gen2'],
    type: ['Fired', 'Metric'],
    time: '2026-03-22T13:58:24.371Z',
    text: ['CPU of the machine is above 80 percent'],
  }),
  one(
    'Amazon S3',
    { Records: [s3('invoices/1.pdf'), s3('invoices/2.pdf')] },
    ...[1, 2].map(() => ({
      entity: 'amzn-s3-demo-bucket',
      type: 'ObjectCreated:Put',
      time: '2026-09-01T00:00:00.000Z',
      text: ['ObjectCreated:Put', 'amzn-s3-demo-bucket'],
    })),
  ),
  one('Opsgenie', OPSGENIE, {
    entity: 'db-1',
    type: 'Create',
    time: '2026-09-21T14:13:20.000Z',
    text: ['Disk of db-1 is almost full'],
  }),
  one(
    'SendGrid',
    SENDGRID,
    {
      entity: 'a@example.com',
      type: 'deferred',
      time: '2026-09-21T14:13:20.000Z',
      text: ['400 try again later'],
    },
    { entity: 'b@example.com', type: 'delivered', time: '2026-09-21T14:14:20.000Z', text: ['250 OK'] },
  ),
  one('Linear', LINEAR, {
    entity: ['ENG-123', 'Engineering', 'ENG'],
    type: ['create', 'Issue'],
    time: '2026-01-23T12:53:18.084Z',
    text: ['Login form does not submit'],
  }),
  one('GitHub issue, without its header', example('issues'), {
    entity: [HELLO, `${HELLO}#1`, 'Hello-World'],
    type: 'edited',
    time: '2019-05-15T15:20:18.000Z',
    text: ['Spelling error in the README file'],
  }),
  one('GitHub deployment status, without its header', example('deployment_status'), {
    entity: [HELLO, 'Hello-World'],
    type: ['created', 'success'],
    time: '2019-05-15T15:20:55.000Z',
    text: ['Hello-World'],
  }),
]
