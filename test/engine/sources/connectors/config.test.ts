import { describe, expect, it } from 'vitest'
import {
  describeConnectors,
  secretFields,
  validateConfig,
} from '../../../../engine/sources/connectors/index.ts'

const kinds = Object.keys(describeConnectors()).join(', ')
const saved = (kind: string, config: Record<string, unknown>) => JSON.stringify(validateConfig(kind, config))

describe('a config', () => {
  it('is stored the same whatever the order, the defaults and the empty fields it came with', () => {
    const label = {
      name: 'service',
      field: 'svc',
      primary: true,
      pattern: '^(x)',
      replace: '$1',
      map: { a: '1', b: '2' },
    }
    const full = {
      labels: [
        {
          map: { b: '2', a: '1' },
          replace: '$1',
          pattern: '^(x)',
          type: 'string',
          primary: true,
          field: 'svc',
          const: null,
          name: 'service',
        },
        { name: 'env', const: 'prod', field: '', pattern: '', replace: '', map: {}, primary: false },
      ],
      dedupe_field: '',
      signature_scheme: null,
      text_template: '{a}',
      event_type_field: 'type',
      event_type: 'webhook_event',
    }
    const expected = {
      event_type_field: 'type',
      text_template: '{a}',
      labels: [label, { name: 'env', const: 'prod' }],
    }
    expect(saved('webhook', full)).toBe(JSON.stringify(expected))
    expect(saved('webhook', expected)).toBe(JSON.stringify(expected))
    expect(saved('webhook', { labels: [] })).toBe('{}')
    expect(saved('memory', {})).toBe('{}')
    expect(saved('webhook', { labels: [{ name: 'a', field: 'a', map: {} }] })).toBe(
      '{"labels":[{"name":"a","field":"a"}]}',
    )
  })

  it.each<[string, string, Record<string, unknown>, string]>([
    ['an unknown connector', 'nope', {}, `connector nope is not known; there are ${kinds}`],
    [
      'a prototype for a connector',
      'constructor',
      {},
      `connector constructor is not known; there are ${kinds}`,
    ],
    [
      'an unknown field',
      'webhook',
      { evnt_type: 'x' },
      'evnt_type is not a known field (did you mean event_type?)',
    ],
    [
      'an unknown field that is empty',
      'webhook',
      { evnt_type: '' },
      'evnt_type is not a known field (did you mean event_type?)',
    ],
    [
      'a word that a field is longer than',
      'webhook',
      { time: 'at' },
      'time is not a known field (did you mean event_time_field?)',
    ],
    [
      'fields that are like none, which are told once',
      'webhook',
      { colour: 'red', size: 5 },
      expect.stringMatching(
        /^colour is not a known field \(fields: preset, event_type, [a-z_, ]+, labels\); size is not a known field$/,
      ),
    ],
    ['a field of another kind', 'webhook', { event_type: 5 }, 'event_type must be text'],
    [
      'an unknown scheme',
      'webhook',
      { signature_scheme: 'md5' },
      'signature_scheme must be one of github, linear, hmac_sha256, hmac_sha512, pagerduty, stripe, slack, standard_webhooks, shopify, gitlab, sns',
    ],
    [
      'a header that is none',
      'webhook',
      { signature_header: 'a b' },
      'signature_header must be the name of a header: letters, digits and dashes, 64 at most',
    ],
    [
      'a template too long',
      'webhook',
      { text_template: 'x'.repeat(4_097) },
      'text_template must have at most 4096 characters',
    ],
    ['labels that are no list', 'webhook', { labels: 'x' }, 'labels must be a list'],
    [
      'a label of neither kind',
      'webhook',
      { labels: [{ name: 'a' }] },
      'labels[0]: give exactly one of const or field',
    ],
    [
      'a label of both kinds',
      'webhook',
      { labels: [{ name: 'a', const: 'x', field: 'y' }] },
      'labels[0]: give exactly one of const or field',
    ],
    ['a label without a name', 'webhook', { labels: [{ field: 'y' }] }, 'labels[0]: name is required'],
    [
      'a label name with a dot',
      'webhook',
      { labels: [{ name: 'a.b', field: 'y' }] },
      'labels[0].name must be 1 to 64 letters, digits or underscores',
    ],
    [
      '65 labels',
      'webhook',
      { labels: Array.from({ length: 65 }, (_, i) => ({ name: `l${i}`, const: 'x' })) },
      'labels must have at most 64 entries',
    ],
    [
      'lookahead',
      'memory',
      { labels: [{ name: 'a', field: 'a', pattern: '(?=x)' }] },
      'labels[0].pattern is not supported: invalid or unsupported Perl syntax: `(?=`',
    ],
    [
      'two faults',
      'memory',
      {
        labels: [
          { name: 'a', field: 'a', primary: true, type: 'number' },
          { name: 'a', const: 'x' },
        ],
      },
      'labels[0]: the primary label must be a string; labels[1].name repeats a',
    ],
    ['no documents', 'reference', { attachments: [] }, 'attachments is required'],
    [
      'a document without content',
      'reference',
      { attachments: [{ name: 'a', content: '' }] },
      'attachments[0].content must not be empty',
    ],
    [
      'a document twice',
      'reference',
      {
        attachments: [
          { name: 'a', content: 'x' },
          { name: 'a', content: 'x' },
        ],
      },
      'attachments[1].name repeats a',
    ],
    [
      'a secret that nothing checks',
      'webhook',
      { signature_secret: 's' },
      'signature_scheme must say how signature_secret is used: without it no signature is checked; set it, or clear the secret with ""',
    ],
    [
      'a secret whose preset does not sign',
      'webhook',
      { preset: 'vector', signature_secret: 's' },
      'signature_scheme must say how signature_secret is used: without it no signature is checked, and the sender of preset vector does not sign; set it, or clear the secret with ""',
    ],
  ])('with %s is refused with the rule', (_what, kind, config, message) => {
    expect(() => validateConfig(kind, config)).toThrow(expect.objectContaining({ code: 'invalid', message }))
  })

  it('that is refused never has a secret in the message', () => {
    const config = { signature_secret: 'hunter2'.repeat(200), event_type: 7 }
    expect(() => validateConfig('webhook', config)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    )
  })
})

describe('secret fields', () => {
  it('are those whose schema says so', () => {
    expect(secretFields('webhook')).toEqual(['signature_secret', 'signature_secret_previous'])
    expect(secretFields('memory')).toEqual([])
    expect(() => secretFields('nope')).toThrow('connector nope is not known')
  })
})
