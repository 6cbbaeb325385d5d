/** Outcomes of tests of a catalog: on a terminal, and as JUnit. */
import type { TestOutcome } from '../../engine/local.ts'
import { escapeLine, escapeText, type Io, paint } from './terminal.ts'

/** Each test on a line, what failed below it, and how many did. */
export function outcomesText(io: Pick<Io, 'colour'>, outcomes: readonly TestOutcome[]): string {
  const lines = outcomes.flatMap((outcome) => {
    const { name, failures, stale, place, ms } = outcome
    const isBad = failures.length > 0 || stale !== null
    const word = stale !== null ? 'stale' : isBad ? 'failed' : 'passed'
    const mark = paint(io, isBad ? 'red' : 'green', isBad ? '✗' : '✓')
    const head = `${mark} ${escapeLine(name)} (${word}, ${ms} ms)`
    const why = stale === null ? [] : [`  ${place.file}:${place.line}:${place.column}: ${staleText(stale)}`]
    const below = failures.map(
      (failure) =>
        `  ${failure.place.file}:${failure.place.line}:${failure.place.column}:\n${indented(escapeText(failure.message))}`,
    )
    return [head, ...why.map((line) => escapeText(line)), ...below]
  })
  const stale = outcomes.filter((one) => one.stale !== null).length
  const failed = outcomes.filter((one) => one.stale === null && one.failures.length > 0).length
  const passed = outcomes.length - failed - stale
  const total = `${passed} passed, ${failed} failed${stale ? `, ${stale} stale` : ''}`
  return `${[...lines, total].join('\n')}\n`
}

const staleText = (why: string): string =>
  `the tape is of another prompt or catalog: ${why}; --record makes it anew`

const indented = (text: string): string => text.replace(/^/gm, '    ')

/** JUnit, as CI systems read it: a suite for each file. */
export function junitText(outcomes: readonly TestOutcome[]): string {
  const files = [...new Set(outcomes.map(({ place }) => place.file))]
  const suites = files.map((file) => {
    const own = outcomes.filter(({ place }) => place.file === file)
    const bad = own.filter(({ failures, stale }) => failures.length > 0 || stale !== null)
    const cases = own.map((outcome) => `    ${caseText(file, outcome)}\n`).join('')
    const time = own.reduce((sum, { ms }) => sum + ms, 0) / 1000
    return `  <testsuite name="${xml(file)}" tests="${own.length}" failures="${bad.length}" errors="0" time="${time}">\n${cases}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`
}

function caseText(file: string, { name, failures, stale, place, ms }: TestOutcome): string {
  const head = `<testcase classname="${xml(file)}" name="${xml(name)}" file="${xml(file)}" line="${place.line}" time="${ms / 1000}"`
  const told = [...(stale === null ? [] : [staleText(stale)]), ...failures.map(({ message }) => message)]
  if (told.length === 0) return `${head}/>`
  const [first] = told
  const text = told.join('\n\n')
  return `${head}><failure message="${xml(first!.split('\n')[0]!)}">${xml(text)}</failure></testcase>`
}

/** XML 1.0: the marks of XML as references, and no character that it does not have. */
const xml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
