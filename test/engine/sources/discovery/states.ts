/**
 * Senders whose messages tell of one thing in different states, a message that it is over last: in the forms they document,
 * shortened, with times of this year. Prometheus, Alertmanager's webhook_config (version 4); Azure Monitor, common alert
 * schema; Google Cloud Monitoring, webhook notifications; Netlify, deploy notifications; Bitbucket Cloud, build status
 * updated; Pingdom, webhooks; UptimeRobot, alert contacts; Atlassian Statuspage, webhook notifications; Vercel, webhooks;
 * CircleCI, webhooks; New Relic, workflow webhooks; Opsgenie, webhook integration; Jenkins, notification plugin; updown.io.
 */
import type { Row, Sender } from './senders.ts'

const NEVER = '0001-01-01T00:00:00Z'
const [BEGAN, OVER] = ['2026-11-20T10:00:00.000Z', '2026-11-20T10:30:00.000Z']
const seconds = (time: string): number => Date.parse(time) / 1_000
/** When the door of the tests takes them: they say no time. */
const ARRIVAL = '2026-11-23T12:00:00.000Z'

const alert = (status: string, endsAt: string): object => ({
  status,
  labels: { alertname: 'HighErrors', service: 'checkout', severity: 'critical' },
  annotations: { summary: 'errors are above 5 %' },
  startsAt: BEGAN,
  endsAt,
  fingerprint: 'a1bc48475b20e73d',
})
const alertmanager = (status: string, endsAt: string): object => ({
  ...{ receiver: 'svc', status, version: '4', groupKey: '{}:{}', externalURL: 'http://alertmanager:9093' },
  alerts: [alert(status, endsAt)],
})

const azure = (monitorCondition: string, more: object): object => ({
  schemaId: 'azureMonitorCommonAlertSchema',
  data: {
    essentials: {
      ...{ alertRule: 'WCUS-R2-Gen2', severity: 'Sev3', signalType: 'Metric', monitorCondition },
      monitoringService: 'Platform',
      alertTargetIDs: ['/subscriptions/1/resourcegroups/rg/providers/microsoft.compute/virtualmachines/vm-2'],
      configurationItems: ['vm-2'],
      firedDateTime: BEGAN,
      ...more,
    },
  },
})

const google = (state: string, ended_at: number): object => ({
  version: '1.2',
  incident: {
    ...{ incident_id: 'f2e08c333dc64cb09f75eaab355393bz', started_at: seconds(BEGAN), ended_at, state },
    ...{ summary: 'CPU of web-1 is above 80 %', resource_name: 'web-1', policy_name: 'CPU' },
    resource: { type: 'gce_instance', labels: { instance_id: '11223344' } },
    metric: { type: 'compute.googleapis.com/instance/cpu/utilization', displayName: 'CPU utilization' },
  },
})

const netlify = (state: string, at: string): object => ({
  ...{ id: '5b78192ac9659217dbf7c9aa', site_id: '573f11b2-f5f3-481f-a1f8-85feb457ff49', state },
  ...{ name: 'shop-35fbb2', branch: 'master', created_at: BEGAN, updated_at: at, context: 'production' },
  log_access_attributes: { type: 'firebase' },
})

const bitbucket = (state: string): object => ({
  actor: { type: 'user', display_name: 'Ada' },
  repository: { type: 'repository', name: 'Shop', full_name: 'acme/shop' },
  commit_status: {
    ...{ name: 'Unit tests', description: 'Build finished', state, key: 'tests', type: 'build' },
    ...{ created_on: BEGAN, updated_on: OVER },
  },
})

const pingdom = (previous_state: string, current_state: string, at: string): object => ({
  ...{ check_id: 2048467, check_name: 'Shop', check_type: 'HTTP', previous_state, current_state },
  ...{ state_changed_timestamp: seconds(at), long_description: 'Non-recoverable failure in name resolution' },
})

const uptimerobot = (code: string, alert_type_friendly_name: string): object => ({
  ...{ monitor_friendly_name: 'Shop', alert_type: code, alert_type_friendly_name },
  alert_details: 'Host Is Unreachable',
})

const statuspage = (status: string, updated_at: string): object => ({
  meta: { generated_at: updated_at },
  page: { id: 'jb7j80lkgqvb', status_indicator: 'major', status_description: 'Partial System Outage' },
  incident: { name: 'Slow queries', status, created_at: BEGAN, updated_at, id: 'z3lct0r596n4' },
})

const vercel = (type: string, at: string): object => ({
  ...{ id: 'uev_1', type, createdAt: Date.parse(at), region: 'sfo1' },
  payload: {
    deployment: { id: 'dpl_1', name: 'shop', meta: { githubCommitMessage: 'fix the cart' } },
    ...{ target: 'production', project: { id: 'prj_1' } },
  },
})

const circleci = (status: string, happened_at: string): object => ({
  ...{ type: 'workflow-completed', id: '3888f21b-eaa7-38e3-8f3d-75a63bba8895', happened_at },
  project: { id: '84996744-a854-4f5e-aea3-04e2851dc1d2', name: 'shop', slug: 'github/acme/shop' },
  workflow: { id: 'fda08377-fe7e-46b1-8992-3a7aaecac9c3', name: 'build', status },
  pipeline: { number: 130, vcs: { commit: { subject: 'Fix the cart' }, branch: 'main' } },
})

const newrelic = (state: string, at: string): object => ({
  ...{ title: "query result is > 2.0 for 1 minutes on 'High CPU'", priority: 'CRITICAL', state },
  ...{ impactedEntities: ['web-1'], sources: ['newrelic'], createdAt: Date.parse(BEGAN) },
  ...{ updatedAt: Date.parse(at), workflowName: 'Ops' },
})

const opsgenie = (action: string, at: string): object => ({
  action,
  alert: { message: 'Disk is almost full', entity: 'db-1', updatedAt: Date.parse(at), priority: 'P2' },
  source: { name: 'web', type: 'API' },
})

const jenkins = (phase: string, more: object, at: string): object => ({
  ...{ name: 'shop', display_name: 'shop', url: 'job/shop/' },
  build: { number: 18, queue_id: 1, timestamp: Date.parse(at), phase, ...more },
})

const updown = (event: string, last_check_at: string, error: string): object => ({
  event,
  check: { token: 'ngg8', alias: 'Shop', last_check_at, error, period: 30 },
  downtime: { error: '500', started_at: BEGAN },
})

const of = (sender: string, payloads: readonly object[], ...rows: Row[]): Sender => ({
  sender,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(payloads),
  rows,
})

const row = (entity: string, type: string, time: string, ...text: string[]): Row => ({
  entity,
  type,
  time,
  text,
})

export const STATEFUL: Sender[] = [
  of(
    'Alertmanager',
    [alertmanager('firing', NEVER), alertmanager('resolved', OVER)],
    row('checkout', 'firing', BEGAN, 'checkout firing: errors are above 5 %'),
    row('checkout', 'resolved', OVER, 'checkout resolved: errors are above 5 %'),
  ),
  of(
    'Azure Monitor',
    [azure('Fired', {}), azure('Resolved', { resolvedDateTime: OVER })],
    row('vm-2', 'Fired', BEGAN, 'Fired', 'vm-2'),
    row('vm-2', 'Resolved', OVER, 'Resolved', 'vm-2'),
  ),
  of(
    'Google Cloud Monitoring',
    [google('open', 0), google('closed', seconds(OVER))],
    row('web-1', 'open', BEGAN, 'open: CPU of web-1 is above 80 %'),
    row('web-1', 'closed', OVER, 'closed: CPU of web-1 is above 80 %'),
  ),
  of(
    'Netlify',
    [netlify('building', BEGAN), netlify('error', OVER)],
    row('shop-35fbb2', 'building', BEGAN, 'building', 'shop-35fbb2'),
    row('shop-35fbb2', 'error', OVER, 'error', 'shop-35fbb2'),
  ),
  of(
    'Bitbucket',
    [bitbucket('SUCCESSFUL'), bitbucket('FAILED')],
    row('acme/shop', 'SUCCESSFUL', OVER, 'acme/shop SUCCESSFUL: Build finished'),
    row('acme/shop', 'FAILED', OVER, 'acme/shop FAILED: Build finished'),
  ),
  of(
    'Pingdom',
    [pingdom('UP', 'DOWN', BEGAN), pingdom('DOWN', 'UP', OVER)],
    row('Shop', 'DOWN', BEGAN, 'Shop DOWN: '),
    row('Shop', 'UP', OVER, 'Shop UP: '),
  ),
  of(
    'UptimeRobot',
    [uptimerobot('1', 'Down'), uptimerobot('2', 'Up')],
    row('Shop', 'Down', ARRIVAL, 'Shop Down: Host Is Unreachable'),
    row('Shop', 'Up', ARRIVAL, 'Shop Up: '),
  ),
  of(
    'Statuspage',
    [statuspage('identified', BEGAN), statuspage('resolved', OVER)],
    row('Slow queries', 'identified', BEGAN, 'identified: Slow queries'),
    row('Slow queries', 'resolved', OVER, 'resolved: Slow queries'),
  ),
  of(
    'Vercel',
    [vercel('deployment.created', BEGAN), vercel('deployment.error', OVER)],
    row('shop', 'deployment.created', BEGAN, 'shop deployment.created: fix the cart'),
    row('shop', 'deployment.error', OVER, 'shop deployment.error: fix the cart'),
  ),
  of(
    'CircleCI',
    [circleci('failed', BEGAN), circleci('success', OVER)],
    row('github/acme/shop', 'workflow-completed', BEGAN, 'github/acme/shop failed: Fix the cart'),
    row('github/acme/shop', 'workflow-completed', OVER, 'github/acme/shop success: Fix the cart'),
  ),
  of(
    'New Relic',
    [newrelic('CREATED', BEGAN), newrelic('CLOSED', OVER)],
    row('web-1', 'CREATED', BEGAN, 'web-1 CREATED: query result'),
    row('web-1', 'CLOSED', OVER, 'web-1 CLOSED: query result'),
  ),
  of(
    'Opsgenie',
    [opsgenie('Create', BEGAN), opsgenie('Close', OVER)],
    row('db-1', 'Create', BEGAN, 'db-1 Create: Disk is almost full'),
    row('db-1', 'Close', OVER, 'db-1 Close: Disk is almost full'),
  ),
  of(
    'Jenkins',
    [jenkins('STARTED', {}, BEGAN), jenkins('FINALIZED', { status: 'FAILURE' }, OVER)],
    row('shop', 'STARTED', BEGAN, 'STARTED', 'shop'),
    row('shop', 'FINALIZED', OVER, 'shop', 'FAILURE'),
  ),
  of(
    'updown.io',
    [updown('check.down', BEGAN, '500 Internal Error'), updown('check.up', OVER, 'none any more')],
    row('Shop', 'check.down', BEGAN, 'check.down', 'Shop'),
    row('Shop', 'check.up', OVER, 'check.up', 'Shop'),
  ),
]
