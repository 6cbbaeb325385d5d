/**
 * What packages bring along and no page of svc asks for, taken out of the build: it was a fifth of what a page
 * loads besides the shell (2026-11-26).
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const mine = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

/* Packages that the kits of forms and components ask for, and ours in their place. */
const LIGHTER: Readonly<Record<string, string>> = {
  'react-remove-scroll': mine('../lighter/remove-scroll.tsx'),
  'markdown-to-jsx/react': mine('../lighter/markdown.tsx'),
  'fast-uri': mine('../lighter/uri.ts'),
  '@x0k/json-schema-merge': mine('../lighter/merge.ts'),
  '@x0k/json-schema-merge/lib/array': mine('../lighter/merge.ts'),
  dayjs: mine('../lighter/dayjs.ts'),
  'dayjs/plugin/customParseFormat': mine('../lighter/dayjs.ts'),
}

/* React's, which shows no text turned around. */
const RUNTIME = mine('../lighter/jsx-runtime.ts')

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

/* Components of the kit, and ours of the same name in their place. */
const OURS: Readonly<Record<string, string>> = {
  NumberInput: mine('../parts/number-input.tsx'),
  ScrollArea: mine('../lighter/scroll-area.tsx'),
}

/* The part of the router that is for pages rendered by a server; of it, links ask for these alone. */
const SERVED = /react-router\/dist\/\w+\/lib\/dom\/ssr\/components\.js$/
const NOT_SERVED = `
export const FrameworkContext = createContext(undefined)
export const usePrefetchBehavior = () => [false, null, {}]
export const PrefetchPageLinks = () => null
export const mergeRefs = (ref) => ref`
/* Forms, fetchers and what else of it nobody imports: bundlers take it for used, as it is given a name. */
const ROUTER = /react-router\/dist\/\w+\/lib\/(dom\/lib|components)\.js$/
const NAMED = /^\w+\.displayName = .*;$/gm
const MADE = /= (React\$1\.forwardRef\()/g

/* Components of the kit that no page shows: their styles are a third of all, and every page waits for styles. */
const UNSTYLED =
  'ActionBar Affix AngleSlider AspectRatio Avatar BackgroundImage Blockquote Breadcrumbs Card Cascader CheckboxCard ColorInput ColorPicker ColorSwatch DataList Dialog EmptyState FloatingWindow Image Indicator LoadingOverlay Marquee Menubar NumberInput OverflowList Pagination PinInput RadioCard RadioIndicator Rating RingProgress RollingNumber ScrollArea Scroller SemiCircleProgress Splitter Spoiler Stepper TableOfContents ThemeIcon Timeline Toggle Toolbar Tooltip Tour Tree TreeSelect'.split(
    ' ',
  )
const STYLES = /node_modules\/@mantine\/core\/styles\.css/
const STYLE = /node_modules\/@mantine\/core\/.*\/(\w+)\.module\.mjs$/

/* Moves of a drawing: its view alone, between three numbers. */
const MOVES = /node_modules\/d3-transition\//
const MOVED = `
import { selection } from 'd3-selection'
import { movedBy } from '${mine('../lighter/transition.ts')}'
export const interrupt = movedBy(selection)`
const BETWEEN = /import \{ interpolateZoom, interpolate \} from 'd3-interpolate';/
const BETWEEN_NUMBERS = `
import { interpolateZoom } from 'd3-interpolate'
const interpolate = (from, to) => (done) => from.map((one, i) => one + (to[i] - one) * done)`

/* Its ways between colours are made as it is loaded, which bundlers take for a use of them. */
const AT_LOAD = /^(var \w+ = )(\w+\(|\(function)/gm

/* Lines of an icon have keys that tell them from others where some come and go: those of one icon stay. They pack badly. */
const ICON = /lucide-react\/dist\/esm\/icons\//
const UNREAD = /, key: "\w+"|^__iconData\.node;$/gm

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

/** A module with the same names, whose components draw nothing. @param but declarations of those that do */
function emptied(code: string, but = ''): string {
  const names = [
    ...[...code.matchAll(LISTED)].flatMap(([, list]) => list!.split(',').map((one) => one.trim())),
    ...[...code.matchAll(DECLARED)].map(([, name]) => name!),
  ].filter((name) => /^\w+$/.test(name) && !but.includes(` ${name} =`))
  const of = (name: string): string => (name.endsWith('Context') ? 'createContext(null)' : '() => null')
  return [
    "import { createContext } from 'react'",
    ...names.map((name) => `export const ${name} = ${of(name)}`),
    but,
    'export default () => null',
  ].join('\n')
}

/** The styles of the kit without those of components that no page shows. */
const stylesLeft = (file: string): string =>
  UNSTYLED.reduce(
    (all, name) => all.replace(readFileSync(file.replace(/\.css$/, `/${name}.css`), 'utf8').trim(), ''),
    readFileSync(file, 'utf8'),
  )

/** @returns takes lighter modules in place of large ones, and refuses a page that uses what is left out */
export const lighter = (): Plugin => ({
  name: 'lighter',
  enforce: 'pre',
  resolveId: (source, importer) =>
    source === 'react/jsx-runtime' && importer !== RUNTIME
      ? RUNTIME
      : /node_modules\/(@mantine|@rjsf)\//.test(importer ?? '')
        ? (LIGHTER[source] ?? null)
        : null,
  load(id) {
    if (STYLES.test(id)) return stylesLeft(id.replace(/\?.*/, ''))
    if (MOVES.test(id)) return MOVED
    if (SERVED.test(id)) return emptied(readFileSync(id, 'utf8'), NOT_SERVED)
    if (!/node_modules\/(@mantine|@rjsf)\//.test(id)) return null
    const name = basename(id).replace(/\.m?js$/, '')
    if (OURS[name]) return `export { ${name}, ${name} as ${name}Autosize } from '${OURS[name]}'`
    if (!LEFT_OUT.has(name)) return null
    return emptied(readFileSync(id.replace(/\?.*/, ''), 'utf8'))
  },
  transform(code, id) {
    if (id.includes('/@xyflow/system/')) return code.replace(BETWEEN, BETWEEN_NUMBERS)
    if (ICON.test(id)) return code.replace(UNREAD, '')
    if (id.includes('/d3-interpolate/')) return code.replace(AT_LOAD, '$1/* @__PURE__ */ $2')
    if (ROUTER.test(id)) return code.replace(NAMED, '').replace(MADE, '= /* @__PURE__ */ $1')
    const used = id.includes('node_modules') ? null : USES.exec(code)
    if (used && id.endsWith('.tsx'))
      this.error(`${used[0]} is left out of the build: take it off the list of console/build/lighter.ts`)
  },
  generateBundle(_options, bundle) {
    const shown = Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
    const bare = shown.map((id) => STYLE.exec(id)?.[1]).filter((name) => UNSTYLED.includes(name ?? ''))
    if (bare.length > 0)
      this.error(`${bare} is shown without its styles: take it off the list of console/build/lighter.ts`)
  },
})
