import { describe, expect, it } from 'vitest'
import { otlp } from '../../../../../engine/sources/connectors/otlp.ts'
import { prepared } from '../reach.ts'

const of = (resourceAttributes: Record<string, unknown>, config: Record<string, unknown> = {}) => {
  const record = { signal: 'logs', body: 'x', resourceAttributes }
  const [event] = prepared(otlp, config, { items: [JSON.stringify(record)], cursor: null })
  return {
    labels: Object.fromEntries(event!.strings),
    entity: event!.hasEntity ? event!.strings[0]![0] : null,
  }
}
const DECLARED = { labels: otlp.labels }

describe('A2: attributes of a resource', () => {
  it('become labels, the usual ones without a word', () => {
    const { labels } = of({
      'service.name': 'checkout',
      'service.version': '1.4.2',
      'deployment.environment.name': 'prod',
      'host.name': 'web1',
      'k8s.namespace.name': 'shop',
      'k8s.pod.name': 'checkout-7d9',
      'cloud.region': 'eu-west-1',
      'process.pid': 4711,
      'telemetry.sdk.name': 'opentelemetry',
    })
    expect(labels).toEqual({
      service: 'checkout',
      service_version: '1.4.2',
      environment: 'prod',
      host_name: 'web1',
      k8s_namespace_name: 'shop',
      k8s_pod_name: 'checkout-7d9',
      cloud_region: 'eu-west-1',
    })
    expect(of({ 'service.name': 'a', 'deployment.environment': 'old' }).labels.environment).toBe('old')
  })

  it.each([
    [{ 'service.name': 'a', 'host.name': 'h' }, 'service'],
    [{ 'k8s.deployment.name': 'd', 'k8s.pod.name': 'p', 'host.name': 'h' }, 'k8s_deployment_name'],
    [{ 'k8s.pod.name': 'p', 'container.name': 'c' }, 'k8s_pod_name'],
    [{ 'container.name': 'c', 'host.name': 'h' }, 'container_name'],
    [{ 'host.name': 'h' }, 'host_name'],
    [{ 'os.type': 'linux' }, 'source'],
  ])('%j: the entity is %s, whether a label was declared or not', (attributes, entity) => {
    expect(of(attributes).entity).toBe(entity)
    expect(of(attributes, DECLARED).entity).toBe(entity)
    // Not even a setting that leaves it out leaves an event on no timeline.
    expect(of(attributes, { resource_labels: ['cloud.region'] }).entity).toBe(entity)
  })

  it('are chosen by the source, all of them with *', () => {
    const attributes = {
      'service.name': 'a',
      'host.name': 'h',
      'process.pid': 7,
      'team-name': 'x',
      list: [1],
    }
    expect(of(attributes, { resource_labels: ['process.pid'] }).labels).toEqual({
      service: 'a',
      process_pid: '7',
    })
    expect(of(attributes, { resource_labels: ['service.name'] }).labels).toEqual({ service: 'a' })
    expect(of({ constructor: 'x' }, { resource_labels: ['constructor'] }).labels).toMatchObject({
      constructor: 'x',
    })
    expect(of(attributes, { resource_labels: ['*'] }).labels).toEqual({
      service: 'a',
      host_name: 'h',
      process_pid: '7',
      team_name: 'x',
    })
  })

  it('are bounded in number and length', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`a${n}`, 'v']))
    const { labels, entity } = of({ ...many, 'host.name': 'h' }, { resource_labels: ['*'] })
    expect([Object.keys(labels).length, labels.host_name, entity]).toEqual([32, 'h', 'host_name'])
    expect(of({ 'service.name': 'a', 'host.name': 'h'.repeat(257) }).labels).toEqual({ service: 'a' })
    expect(of({ 'service.name': 's'.repeat(257) })).toMatchObject({
      labels: { source: 'otlp' },
      entity: 'source',
    })
  })
})
