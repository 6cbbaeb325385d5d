import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compileGroups,
  compileReplace,
  compileSearch,
  groupNames,
  patternFault,
} from '../../../../engine/model/pattern.ts'

/** A reference in braces, which the linter takes for a template string's. */
const braced = (group: string) => ['$', '{', group, '}'].join('')

describe('a pattern', () => {
  it.each([
    ['\\d+', 'N', 'order 12 of 345', 'order N of N'],
    ['\\d+', '', 'a1b22', 'ab'],
    ['x', 'N', 'nothing here', 'nothing here'],
    ['^prod-(\\w+)$', '$1', 'prod-checkout', 'checkout'],
    ['^prod-(\\w+)$', '\\1', 'prod-checkout', 'checkout'],
    ['^prod-(\\w+)$', braced('1'), 'prod-checkout', 'checkout'],
    ['^prod-(\\w+)$', '\\g<1>', 'prod-checkout', 'checkout'],
    ['^prod-(?P<name>\\w+)$', '\\g<name>', 'prod-checkout', 'checkout'],
    ['^prod-(?<name>\\w+)$', braced('name'), 'prod-checkout', 'checkout'],
    ['^(\\w+)/(\\w+)$', '$2 of $1', 'acme/shop', 'shop of acme'],
    ['\\w+', '<$0>', 'a b', '<a> <b>'],
    ['(a)|(b)', '[$2]', 'ab', '[][b]'],
    ['^prod-(\\w+)$', '$1', 'staging-checkout', undefined],
    ['^prod-(\\w+)$', 'cost: $$1', 'prod-checkout', 'cost: $1'],
    ['^prod-', '$$', 'staging', 'staging'],
    ['$', '!', 'end', 'end!'],
    ['x*', '-', 'axb', '-a--b-'],
    ['.', '.', 'a😀b', '...'],
    ['(?i)PROD', 'p', 'prod', 'p'],
  ])('%j replaced by %j in %j', (pattern, replacement, value, expected) => {
    expect(patternFault(pattern, replacement)).toBeNull()
    expect(compileReplace(pattern, replacement)(value)).toBe(expected)
  })

  it.each([
    ['(?=x)', '', 'pattern is not supported: invalid or unsupported Perl syntax: `(?=`'],
    ['(?<!x)y', '', 'pattern is not supported: invalid named capture: `(?<!x)y`'],
    ['(a)\\1', '', 'pattern is not supported: invalid escape sequence: `\\1`'],
    ['(a', '', 'pattern is not supported: missing closing ): `(a`'],
    ['[', '', 'pattern is not supported: missing closing ]: `[`'],
    ['((a{100}){100}){100}', '', 'pattern is not supported: invalid repeat count: `{100}`'],
    ['(a)', '$2', 'replace names group 2, which the pattern does not have'],
    ['(a)', braced('name'), 'replace names group name, which the pattern does not have'],
    ['(a)', '\\g<constructor>', 'replace names group constructor, which the pattern does not have'],
  ])('%j with the replacement %j is refused', (pattern, replacement, fault) => {
    expect(patternFault(pattern, replacement)).toBe(fault)
  })

  // A backtracking engine would need longer than the age of the universe.
  it('that backtracking engines hang on takes linear time', () => {
    const strip = compileReplace('^(a+)+$', '$1')
    for (let i = 0; i < 100; i++) expect(strip(`${'a'.repeat(50_000)}!`)).toBeUndefined()
    expect(strip('a'.repeat(10_000))).toBe('a'.repeat(10_000))
  })

  it('that would look far ahead at every match is given up, and the value dropped', () => {
    const far = compileReplace('a[^b]*c|a', 'x')
    expect(far('a'.repeat(100))).toBe('x'.repeat(100))
    expect(far('a'.repeat(1_000))).toBeUndefined()
    expect(far('a'.repeat(64_000))).toBeUndefined()
    expect(compileReplace('(x.{0,900}y)', '$1')('x'.repeat(16_000))).toBeUndefined()
  })

  it('replaces what the language itself replaces', () => {
    const pattern = fc.constantFrom('a', 'a+', '[ab]+', 'a|ab', '(a)(b)?', 'b*', '^a', 'b$', '\\s', '.')
    const replacement = fc.constantFrom('', 'x', '<x>')
    fc.assert(
      fc.property(
        pattern,
        replacement,
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é') }),
        (p, r, text) => {
          expect(compileReplace(p, r)(text)).toBe(text.replaceAll(new RegExp(p, 'gu'), r))
        },
      ),
    )
  })
})

describe('a search', () => {
  it('finds a pattern anywhere, in any case of letters', () => {
    const search = compileSearch('timeout|refused')
    expect(search('Connection REFUSED by peer')).toBe(true)
    expect(search('all is well')).toBe(false)
  })

  it('looks at the beginning alone of a value too long for the pattern', () => {
    const search = compileSearch('(a{1,500}){1,2}b')
    expect(search(`ab${'x'.repeat(100_000)}`)).toBe(true)
    expect(search(`${'x'.repeat(100_000)}ab`)).toBe(false)
  })

  it('gives the named groups of the first match, those without a part left out', () => {
    const groups = compileGroups('(?P<order>ORD-[0-9]+)( by (?P<who>[a-z]+))?')
    expect(groups('paid ORD-17 by ada, ORD-18')).toEqual({ order: 'ORD-17', who: 'ada' })
    expect(groups('paid ORD-17')).toEqual({ order: 'ORD-17' })
    expect(groups('nothing')).toEqual({})
    expect(groupNames('(?P<a>x)(y)')).toEqual(['a'])
  })
})
