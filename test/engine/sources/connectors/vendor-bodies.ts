/**
 * Bodies in the documented forms of their senders, shortened: Grafana, Alerting, Webhook notifier; Amazon SNS, HTTP
 * notification with a CloudWatch alarm; Telegraf, plugin outputs.http with data_format json, two metrics.
 */

export const GRAFANA = {
  receiver: 'My Super Webhook',
  status: 'firing',
  orgId: 1,
  alerts: [
    {
      status: 'firing',
      labels: {
        alertname: 'High memory usage',
        team: 'blue',
        zone: 'us-1',
        service: 'checkout',
      },
      annotations: {
        description: 'The system has high memory usage',
        summary: 'This alert was triggered for zone us-1',
      },
      startsAt: '2026-09-21T14:13:20.000Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'https://play.grafana.org/alerting/1afz29v7z/edit',
      fingerprint: 'c6eadffa33fcdf37',
      values: {
        B: 44.23,
        C: 1,
      },
    },
    {
      status: 'firing',
      labels: {
        alertname: 'High CPU usage',
        team: 'blue',
        zone: 'eu-1',
        service: 'cart',
      },
      annotations: {
        description: 'The system has high CPU usage',
        summary: 'This alert was triggered for zone eu-1',
      },
      startsAt: '2026-09-21T14:13:20.000Z',
      endsAt: '0001-01-01T00:00:00Z',
      fingerprint: 'bc97ff14869b13e3',
      values: {
        B: 44.23,
        C: 1,
      },
    },
  ],
  groupLabels: {},
  commonLabels: {
    team: 'blue',
  },
  commonAnnotations: {},
  externalURL: 'https://play.grafana.org/',
  version: '1',
  groupKey: '{}:{}',
  truncatedAlerts: 0,
  title: '[FIRING:2]  (blue)',
  state: 'alerting',
  message: '**Firing**\n\nLabels:\n - alertname = T2',
}

export const SNS = {
  Type: 'Notification',
  MessageId: '22b80b92',
  TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
  Subject: 'ALARM: "HighCPU" in US West',
  Message:
    '{"AlarmName": "HighCPU", "NewStateValue": "ALARM", "NewStateReason": "Threshold Crossed", "StateChangeTime": "2026-09-21T14:13:20.000Z", "Trigger": {"Dimensions": [{"name": "InstanceId", "value": "i-0abc"}]}}',
  Timestamp: '2026-09-21T14:13:20.000Z',
  SignatureVersion: '1',
}

export const TELEGRAF = {
  metrics: [
    { fields: { usage_idle: 3.1 }, name: 'cpu', tags: { host: 'web1' }, timestamp: 1790000000 },
    { fields: { used_percent: 91.5 }, name: 'mem', tags: { host: 'web1' }, timestamp: 1790000000 },
  ],
}
