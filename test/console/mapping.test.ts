/** Issue 19, 6: clicking a field sets its role. */
import { describe, expect, it } from 'vitest'
import {
  isMapped,
  mappingOf,
  nameOfSource,
  rolesOf,
  withMapping,
  withoutNamedSecrets,
  withRole,
} from '../../console/lib/mapping.ts'

const entity = { name: 'service', field: 'service', primary: true }

describe('the role of a field', () => {
  it('is read from labels, type, time and text', () => {
    const config = {
      labels: [entity, { name: 'env', field: 'meta.env' }],
      event_type_field: 'kind',
      event_time_field: 'at',
      text_template: '{kind}: {msg}',
    }
    expect(['service', 'meta.env', 'kind', 'at', 'msg', 'x'].map((field) => rolesOf(config, field))).toEqual([
      ['entity'],
      ['label'],
      ['type', 'text'],
      ['time'],
      ['text'],
      [],
    ])
  })

  it('as the entity takes the place of the one before, which stays a label', () => {
    expect(withRole({ labels: [entity] }, 'meta.host', 'entity')).toEqual({
      labels: [
        { name: 'host', field: 'meta.host', primary: true },
        { name: 'service', field: 'service' },
      ],
    })
    expect(withRole({ labels: [{ name: 'n', field: 'n', type: 'number' }] }, 'n', 'entity')).toEqual({
      labels: [{ name: 'n', field: 'n', primary: true }],
    })
  })

  it('is given once, and taken by the same click', () => {
    for (const role of ['entity', 'label', 'type', 'time', 'text'] as const) {
      const given = withRole({ signature_scheme: 'github' }, 'a.b', role)
      expect(rolesOf(given, 'a.b')).toEqual([role])
      expect(withRole(given, 'a.b', role)).toEqual({ signature_scheme: 'github' })
    }
    expect(withRole({ text_template: '{kind}: {msg}' }, 'kind', 'text')).toEqual({ text_template: '{msg}' })
  })

  it('as the time is that of the end, too, which is taken alone', () => {
    const config = { event_time_field: 'startsAt', event_end_field: 'endsAt' }
    expect(rolesOf(config, 'endsAt')).toEqual(['time'])
    expect(withRole(config, 'endsAt', 'time')).toEqual({ event_time_field: 'startsAt' })
    expect(withRole(config, 'startsAt', 'time')).toEqual({ event_end_field: 'endsAt' })
  })

  it('as a label has a name that no other has', () => {
    const labels = [{ name: 'name', field: 'a.name' }]
    expect(withRole({ labels }, 'b.name', 'label').labels).toContainEqual({ name: 'b_name', field: 'b.name' })
  })
})

describe('a mapping', () => {
  it('is what reads payloads; who may send stays', () => {
    const config = { signature_scheme: 'github', signature_secret: '••••••••', items_field: 'a' }
    expect([mappingOf(config), isMapped(config), isMapped({ signature_scheme: 'x' })]).toEqual([
      { items_field: 'a' },
      true,
      false,
    ])
    expect(withMapping(config, { event_type: 'b' })).toEqual({
      signature_scheme: 'github',
      signature_secret: '••••••••',
      event_type: 'b',
    })
  })

  it('names a source that is new', () => {
    expect(nameOfSource({ labels: [entity] }, [])).toBe('service-events')
    expect(nameOfSource({}, ['webhook', 'webhook-2'])).toBe('webhook-3')
  })

  it('leaves what is named like a secret out of a kept sample', () => {
    expect(withoutNamedSecrets('{"api_key": "a\\"b", "Token":"c", "msg": "token is x"}')).toBe(
      '{"api_key": "…", "Token":"…", "msg": "token is x"}',
    )
  })
})
