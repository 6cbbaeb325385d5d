/**
 * What packages bring along and no page of svc asks for, taken out of the build: it was a fifth of what a page
 * loads besides the shell (2026-11-26).
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const mine = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

/* Packages of the form kit, and ours in their place. */
const LIGHTER: Readonly<Record<string, string>> = {
  'markdown-to-jsx/react': mine('../lighter/markdown.tsx'),
  'fast-uri': mine('../lighter/uri.ts'),
  '@x0k/json-schema-merge': mine('../lighter/merge.ts'),
  '@x0k/json-schema-merge/lib/array': mine('../lighter/merge.ts'),
  dayjs: mine('../lighter/dayjs.ts'),
  'dayjs/plugin/customParseFormat': mine('../lighter/dayjs.ts'),
}

/* Parts of the component kit that hang on others (Menu.Search is MenuSearch), by the component they hang on. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  ActionIcon: ['Group', 'GroupSection'],
  AppShell: ['Aside', 'Footer', 'ResizeHandle'],
  Button: ['Group', 'GroupSection'],
  Checkbox: ['Card'],
  Combobox: ['Footer', 'Header', 'Search'],
  Drawer: ['Stack'],
  Menu: [
    'CheckboxGroup',
    'CheckboxItem',
    'ContextMenu',
    'Divider',
    'RadioGroup',
    'RadioItem',
    'Search',
    'SelectableItem',
    'Sub',
    'SubDropdown',
    'SubItem',
    'SubTarget',
  ],
  Modal: ['Stack'],
  Popover: ['ContextMenu'],
  Radio: ['Card', 'Indicator'],
  Switch: ['Group'],
  Tooltip: ['Floating'],
}

/* Widgets of the form kit that no schema of a connector asks for. */
const WIDGETS = [
  'AltDateTimeWidget',
  'AltDateWidget',
  'ColorWidget',
  'DateTimeInput',
  'DateTimeWidget',
  'DateWidget',
  'FileWidget',
  'LayoutGridField',
  'LayoutHeaderField',
  'LayoutMultiSchemaField',
  'RatingWidget',
  'TimeWidget',
]

const LEFT_OUT = new Set([
  ...Object.entries(PARTS).flatMap(([of, parts]) => parts.map((part) => of + part)),
  ...WIDGETS,
])
const USES = new RegExp(
  `\\b(${Object.entries(PARTS)
    .map(([of, parts]) => `${of}\\.?(${parts.join('|')})`)
    .join('|')})\\b`,
)

const LISTED = /^export \{([^}]*)\}/gm
const DECLARED = /^export (?:const|function|class) (\w+)/gm

/** A module with the same names, whose components draw nothing. */
function emptied(code: string): string {
  const names = [
    ...[...code.matchAll(LISTED)].flatMap(([, list]) => list!.split(',').map((one) => one.trim())),
    ...[...code.matchAll(DECLARED)].map(([, name]) => name!),
  ].filter((name) => /^\w+$/.test(name))
  const of = (name: string): string => (name.endsWith('Context') ? 'createContext(null)' : '() => null')
  return [
    "import { createContext } from 'react'",
    ...names.map((name) => `export const ${name} = ${of(name)}`),
    'export default () => null',
  ].join('\n')
}

/** @returns takes lighter modules in place of large ones, and refuses a page that uses what is left out */
export const lighter = (): Plugin => ({
  name: 'lighter',
  enforce: 'pre',
  resolveId: (source, importer) =>
    importer?.includes('/node_modules/@rjsf/') ? (LIGHTER[source] ?? null) : null,
  load(id) {
    if (!/node_modules\/(@mantine|@rjsf)\//.test(id)) return null
    const name = basename(id).replace(/\.m?js$/, '')
    if (name === 'NumberInput') return `export { NumberInput } from '${mine('../parts/number-input.tsx')}'`
    if (!LEFT_OUT.has(name)) return null
    return emptied(readFileSync(id.replace(/\?.*/, ''), 'utf8'))
  },
  transform(code, id) {
    const used = id.includes('node_modules') ? null : USES.exec(code)
    if (used && id.endsWith('.tsx'))
      this.error(`${used[0]} is left out of the build: take it off the list of console/build/lighter.ts`)
  },
})
