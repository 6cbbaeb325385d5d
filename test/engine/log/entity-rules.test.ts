/** Which names are of one thing (docs/entities.md). */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: names refer to groups so
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  conflictsOf,
  type EntityRule,
  EntityRules,
  entityFault,
  nameText,
  overlapsOf,
} from '../../../engine/log/entity-rules.ts'

const of = (rules: readonly EntityRule[], text: string): string[] | null => {
  const at = text.indexOf('=')
  return new EntityRules(rules).of(text.slice(0, at), text.slice(at + 1))?.names.map(nameText) ?? null
}

const API: EntityRule = { name: 'api', kind: 'service', is: ['service=api', 'repo=org/api', 'host=10.0.0.4'] }
const SERVICES: EntityRule = {
  name: 'services',
  is: ['service=(?<n>[a-z-]+)', 'deployment=${n}', 'repo=org/${n}'],
  owned_by: ['team=${n}-team'],
}

describe('patterns of two rules', () => {
  const rule = (name: string, ...is: string[]): EntityRule => ({ name, is })
  it('that one name fits are told with such a name, and those that share no value are not', () => {
    const hosts = rule('hosts', 'service=(?<n>[0-9.]+)', 'host=${n}')
    const pods = rule('pods', 'service=web-(?<n>[a-z]+)', 'pod=${n}')
    const all = [SERVICES, hosts, pods, API]
    expect(overlapsOf(all)).toEqual([{ name: 'service=web-a', of: ['pods', 'services'] }])
    // The one that is told is a name of both, each by itself.
    for (const one of [SERVICES, pods]) expect(of([one], 'service=web-a')).not.toBeNull()
    expect(of(all, 'service=web-a')).toEqual(['service=web-a', 'pod=a'])
  })

  it('are none where a plain name is meant to go before a pattern, or one rule has both', () => {
    expect(overlapsOf([API, SERVICES])).toEqual([])
    expect(overlapsOf([rule('one', 'service=(?<n>.+)', 'service=${n}-prod')])).toEqual([])
  })
})

describe('the names of a thing', () => {
  it('are those of its rule, from whichever is asked', () => {
    for (const name of API.is) expect(of([API], name)).toEqual(API.is)
    expect(of([API], 'service=web')).toBeNull()
    expect(of([API], 'host=service')).toBeNull()
  })

  it('are made of each other where they have groups', () => {
    const names = ['service=web', 'deployment=web', 'repo=org/web']
    for (const name of names) expect(of([SERVICES], name)).toEqual(names)
    expect(of([SERVICES], 'service=Web')).toBeNull()
    expect(of([SERVICES], 'repo=other/web')).toBeNull()
    expect(new EntityRules([SERVICES]).of('repo', 'org/web')?.neighbours).toEqual([
      { edge: 'owned_by', to: { label: 'team', value: 'web-team' } },
    ])
  })

  it('leave out one that a plain rule has: it is of one thing', () => {
    expect(of([API, SERVICES], 'service=api')).toEqual(API.is)
    expect(of([API, SERVICES], 'deployment=api')).toEqual(['deployment=api'])
  })

  it('have text outside the groups as it is written', () => {
    const rule: EntityRule = { name: 'dots', is: ['host=web.(?<n>[0-9]+)', 'pod=web+${n}'] }
    expect(of([rule], 'host=web.1')).toEqual(['host=web.1', 'pod=web+1'])
    expect(of([rule], 'host=webx1')).toBeNull()
  })

  it('hold of a group that is there twice only where both say the same', () => {
    const rule: EntityRule = { name: 'twice', is: ['host=(?<n>[a-z]+)-${n}', 'service=${n}'] }
    expect(of([rule], 'host=a-a')).toEqual(['host=a-a', 'service=a'])
    expect(of([rule], 'host=a-b')).toBeNull()
  })

  it('are one relation: whoever is a name of another has the same names', () => {
    const piece = fc.constantFrom('a', 'b', 'a-b', 'b-a', 'a.b')
    const pattern = fc.constantFrom('.+', '[a-z]+', '[a-z-]+', 'a|b')
    const label = fc.constantFrom('service', 'host', 'repo')
    const plain = fc.uniqueArray(
      fc.tuple(label, piece).map(([l, v]) => `${l}=${v}`),
      { minLength: 2, maxLength: 4 },
    )
    const grouped = fc
      .tuple(pattern, pattern, fc.shuffledSubarray(['service=${a}-${b}', 'host=${b}.${a}', 'repo=${a}/${b}']))
      .filter(([, , names]) => names.length >= 2)
      .map(([one, other, names]) =>
        names.map((name, i) =>
          i ? name : name.replace('${a}', `(?<a>${one})`).replace('${b}', `(?<b>${other})`),
        ),
      )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(plain, grouped), { minLength: 1, maxLength: 4 }),
        label,
        piece,
        piece,
        (all, l, v, w) => {
          const rules = all.map((is, i) => ({ name: `r${i}`, is }))
          fc.pre(rules.every((rule) => entityFault(rule) === null))
          const set = new EntityRules(rules)
          for (const value of [v, `${v}-${w}`, `${v}.${w}`, `${v}/${w}`]) {
            const thing = set.of(l, value)
            if (!thing) continue
            expect(thing.names.map(nameText)).toContain(`${l}=${value}`)
            for (const name of thing.names) expect(set.of(name.label, name.value)).toEqual(thing)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('a rule', () => {
  it.each([
    [['service=api'], 'is', 'two names or more'],
    [['service=api', 'api'], 'is[1]', 'label=value'],
    [['service=api', 'key_value=api'], 'is[1]', 'label=value'],
    [['service=api', 'service=api'], 'is[1]', 'twice'],
    [['service=(?<n>.+)', 'host=web'], 'is[1]', 'must have the group n'],
    [['service=api', 'host=${n}'], 'is[1]', 'no name has a group n'],
    [['service=(?<n>.+', 'host=${n}'], 'is[0]', 'must be closed'],
    [['service=(?<n>a(?=b))', 'host=${n}'], 'is[0]', 'not supported'],
    [['service=(?<n>^a)', 'host=${n}'], 'is[0]', 'anchors'],
    [['service=(?<n>a)', 'host=(?<n>b)'], 'is[1]', 'there twice'],
  ])('%j is refused at %s', (is, field, text) => {
    const fault = entityFault({ is })
    expect(fault?.field).toBe(field)
    expect(fault?.text).toContain(text)
  })

  it('has neighbours that refer to its groups alone', () => {
    expect(entityFault({ is: API.is, owned_by: ['team=payments'] })).toBeNull()
    expect(entityFault({ is: API.is, runs_on: ['host=${n}'] })?.field).toBe('runs_on[0]')
    expect(entityFault({ is: SERVICES.is, calls: ['service=(?<m>.+)'] })?.field).toBe('calls[0]')
  })

  it('conflicts with another that has the same name, or the same pattern', () => {
    expect(conflictsOf([API, { name: 'web', is: ['service=web', 'host=10.0.0.4'] }])).toEqual([
      { name: 'host=10.0.0.4', of: ['api', 'web'] },
    ])
    const other = { name: 'other', is: ['service=(?<x>[a-z-]+)', 'app=${x}'] }
    expect(conflictsOf([SERVICES, other])).toEqual([{ name: other.is[0], of: ['services', 'other'] }])
    expect(conflictsOf([API, SERVICES])).toEqual([])
  })
})
