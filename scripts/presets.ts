/**
 * `catalog/presets.json`: every preset of webhook senders in one file that a thread reads without YAML, made of
 * catalog/presets/<name>.yaml and checked on the way. And `docs/webhook-senders.md`, a section for each.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { presetFaults } from '../engine/sources/connectors/preset.ts'
import { check } from '../schemas/index.ts'
import type { PresetFile, PresetReading } from '../schemas/types.ts'

export const PRESETS_FILE = 'catalog/presets.json'
export const SENDERS_FILE = 'docs/webhook-senders.md'
const ENDING = '.yaml'
const NAME = /^[a-z][a-z0-9_]{0,63}$/

/** @throws Error with a line per fault, which names the file and the rule */
export function renderPresets(): string {
  const folder = fileURLToPath(new URL('../catalog/presets/', import.meta.url))
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .sort()
    .map((name) => [name.slice(0, -ENDING.length), parse(readFileSync(`${folder}${name}`, 'utf8'))] as const)
  const faults = files.flatMap(([name, file]) =>
    faultsOf(name, file).map((one) => `${name}${ENDING}: ${one}`),
  )
  if (faults.length) throw new Error(`presets cannot be used:\n${faults.join('\n')}`)
  return `${JSON.stringify(Object.fromEntries(files), null, 1)}\n`
}

/** Of one file, parsed. @returns a sentence per fault. */
export function faultsOf(name: string, file: unknown): string[] {
  const fault = check('preset-file.json', file)
  if (fault) return [fault]
  const named = NAME.test(name) ? [] : ['a name is small letters, digits and underscores, a letter first']
  return [...named, ...presetFaults(file as PresetFile)]
}

const INTRODUCTION = `# Webhook senders

A [webhook](connectors.md#webhook) source reads a known sender with one field, \`preset\`: the type, a sentence, the sender's own time,
labels with the one that is the entity, the list to split, and what names an event, so that a repeat is stored once. What the
source's own config says goes before it: a field that is set there is read as it says, a label of the same name wins, and a primary
label of its own is the entity.

\`\`\`sh
svc sources presets                                            # those there are
svc sources add alerts --connector webhook --preset grafana
svc sources discover hook                                      # says which preset fits what a source received
svc sources discover hook --preset grafana --apply
\`\`\`

A fresh webhook source takes everything. Once it received something, _Discover_ (console, command, MCP tool) says which preset fits at
least half of it, by the fields of the payloads and by the headers they came with: until something is set of how it is read, its events
have the label \`sender\` where a header tells who sent them. With a secret (\`signature_secret\`) the preset says how it is checked, so that
\`signature_scheme\` may stay open. A sender without a signature sends the source's ingest key as \`Authorization: Bearer\`.

Where a preset reads several labels as the entity, the first that an event has is it. \`level\` is error, warn or info wherever the sender
tells something like it. An upgrade may read more of a sender: the CHANGELOG names each change of a preset, and what a config sets stays.

A preset is a file of [catalog/presets](../catalog/presets), in the form of \`schemas/preset-file.json\`, and nothing else: a new sender
needs no code. Its examples are its tests, and this page is made of it by \`npm run generate\`. The payloads are those their senders
document, shortened; where each is from is said below.
`

/** The page of the documentation, made of the files. */
export function renderSenders(): string {
  const files = Object.entries(JSON.parse(renderPresets()) as Record<string, PresetFile>)
  return `${[INTRODUCTION, ...files.map(([name, file]) => sectionOf(name, file))].join('\n')}`
}

function sectionOf(name: string, file: PresetFile): string {
  const readings = [file.reads, ...(file.cases ?? [])]
  const { signature } = file
  const facts = [
    `Preset \`${name}\`. ${file.about}`,
    `- Set up: ${escaped(file.setup)}`,
    signature
      ? `- Signature: \`${signature.scheme}\`${signature.header ? ` in \`${signature.header}\`` : ''}. ${escaped(signature.where)}`
      : '- Signature: none; the address needs the ingest key.',
    ...(file.items === undefined
      ? []
      : [
          `- An event for each entry of \`${file.items}\`${file.items_alone ? ', where a payload has nothing else' : ''}.`,
        ]),
    `- Type: ${listed(readings.flatMap(({ type = [] }) => type))}`,
    ...(file.text_markup === undefined
      ? []
      : ['- Text: plain, without the markup of the sender; a text of `text_template`, too.']),
    `- Time: ${listed(readings.flatMap(({ time = [] }) => time))}`,
    `- Entity: ${listed(readings.flatMap(({ entity = [] }) => entity))}`,
    `- Labels: ${listed(readings.flatMap(labelsOf))}`,
    ...dedupeOf(readings),
    `- [Documentation of the sender](${file.docs}). Payloads of the tests: ${file.examples.map(({ from }) => from).join('; ')}.`,
  ]
  return `## ${file.label}\n\n${facts[0]}\n\n${facts.slice(1).join('\n')}\n`
}

const labelsOf = ({
  labels = {},
  numbers = {},
  labels_of = [],
  numbers_of = [],
}: PresetReading): string[] => [
  ...[...Object.keys(labels), ...Object.keys(numbers)],
  ...[...labels_of, ...numbers_of].map((path) => `${path}.*`),
]

const dedupeOf = (readings: readonly PresetReading[]): string[] => {
  const all = readings.flatMap(({ dedupe = [] }) => dedupe)
  return all.length ? [`- Stored once: ${listed(all)}`] : []
}

const listed = (names: readonly string[]): string =>
  [...new Set(names)].map((name) => `\`${name}\``).join(', ')

const escaped = (text: string): string => text.replaceAll(/[<[]/g, '\\$&')
