import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, minifySync, type Plugin, type Rolldown } from 'vite'

const daemon = process.env.SVCD_URL ?? 'http://127.0.0.1:8787'
const MAIN = fileURLToPath(new URL('main.tsx', import.meta.url))
const HTML = fileURLToPath(new URL('index.html', import.meta.url))

interface Module {
  importedIds: readonly string[]
  dynamicallyImportedIds: readonly string[]
  code: string | null
}

interface Graph {
  getModuleInfo(id: string): Module | null
}

/** Modules that only hand on others: whoever imports a name of them needs the module of that name alone. */
const HANDS_ON = /node_modules\/(@mantine\/[a-z]+\/esm\/index\.mjs|lucide-react\/.*\/lucide-react\.mjs)$/
const NAMES = /\{([^}]*)\}\s*from\s*["']([^"']+)["']/g

/** Where things are looked at. What several of these need is loaded with the first of them. */
const LISTS = new Set(['incidents', 'looks', 'traced', 'parts', 'projects', 'keeping', 'asking'])
/** Where things are written: what only these need is left out of the pages that show lists. */
const FORMS = new Set(['forms', 'settings', 'editing', 'config-fields'])
/** Where a project is drawn: its canvas is theirs alone. */
const DRAWN = new Set(['drawn', 'replayed', 'editing'])
/** Loaded on top of a page that is there: what it shares with pages says nothing about which of these load it. */
const ON_TOP = 'seldom'
/** Of their lists, those of what forms write. */
const MADE = new Set(['parts', 'projects'])
/** Lists of which what so many need is loaded by all. */
const MOST = 3

/** /console/areas/looks.ts as looks. */
const areaOf = (root: string): string => basename(root).replace(/\.tsx?$/, '')

/**
 * Which file each module goes into. Few files: what the shell and the first pages need, what several of the other
 * parts share, and each part that is loaded on demand. Groups for the bundler, those first that others must not take modules of.
 * @param main id of the module that begins
 */
function groupsOf(main: string) {
  let reached: Map<string, Set<string>> | null = null
  const fileOf = (id: string, graph: Graph): string | null => {
    reached ??= reachedBy(main, graph)
    // Packages change more seldom than our modules, and stay in browsers over an upgrade.
    const isOurs = !id.includes('node_modules')
    // What begins, and what the bundler adds to it, is no file of its own.
    if (id === HTML || id.includes('vite/modulepreload-polyfill')) return 'shell'
    if (id.includes('rolldown/runtime')) return 'base'
    if (reached.get(main)!.has(id)) return isOurs || id.endsWith('.css') ? 'shell' : 'base'
    const parts = [...reached].flatMap(([root, modules]) => (modules.has(id) ? [areaOf(root)] : []))
    if (parts.length < 2) return null
    if (parts.every((area) => FORMS.has(area) || area === ON_TOP)) return 'written'
    if (parts.every((area) => DRAWN.has(area))) return 'canvas'
    const lists = parts.filter((area) => LISTS.has(area))
    const [only] = lists
    // An icon weighs less than a request.
    if (id.includes('/icons/') && lists.length > 0) return 'kit'
    if (!isOurs)
      return lists.length >= MOST
        ? 'kit'
        : only === undefined || (lists.length === 1 && only === 'looks')
          ? 'few'
          : 'fields'
    if (lists.length > 1) return 'shared'
    // What a page has in common with the forms of its parts, or with what is drawn, is loaded by these alone.
    return only === undefined || only === 'looks' ? 'few' : MADE.has(only) ? 'made' : 'shared'
  }
  return ['base', 'shell', 'kit', 'shared', 'fields', 'few', 'made', 'written', 'canvas'].map((file, at) => ({
    name: (id: string, graph: Graph) => (fileOf(id, graph) === file ? file : null),
    debugName: file,
    priority: 10 - at,
  }))
}

/** What begins, and what it and others load on demand, each with all modules it needs. */
function reachedBy(main: string, graph: Graph): Map<string, Set<string>> {
  const roots = new Set([main])
  const found = new Map<string, Set<string>>()
  for (const root of roots) {
    const seen = new Set([root])
    for (const id of seen) {
      for (const next of needsOf(id, graph)) seen.add(next)
      for (const next of graph.getModuleInfo(id)?.dynamicallyImportedIds ?? []) roots.add(next)
    }
    found.set(root, seen)
  }
  return found
}

function needsOf(id: string, graph: Graph): string[] {
  const { importedIds = [], code } = graph.getModuleInfo(id) ?? {}
  if (HANDS_ON.test(id)) return []
  const handing = importedIds.filter((one) => HANDS_ON.test(one))
  const direct = importedIds.filter((one) => !HANDS_ON.test(one))
  if (handing.length === 0) return direct
  const names = [...(code ?? '').matchAll(NAMES)].flatMap(([, list]) => namesIn(list!, 0))
  return [...direct, ...handing.flatMap((one) => modulesOf(one, names, graph))]
}

/** @param side of `a as b`: 0 for a, 1 for b */
const namesIn = (list: string, side: 0 | 1): string[] =>
  list.split(',').map((one) => {
    const [from = '', to = from] = one.trim().split(/\s+as\s+/)
    return side === 0 ? from : to
  })

/** Modules that hold the names of one that hands them on. */
function modulesOf(id: string, names: readonly string[], graph: Graph): string[] {
  const { code, importedIds = [] } = graph.getModuleInfo(id) ?? {}
  const held = new Map<string, string>()
  for (const [, list, path] of (code ?? '').matchAll(NAMES))
    for (const name of namesIn(list!, 1)) held.set(name, resolve(dirname(id), path!))
  const known = new Set(importedIds)
  return names.flatMap((name) => {
    const module = held.get(name)
    return module !== undefined && known.has(module) ? [module] : []
  })
}

/* What the form kit has that no form of svc asks for in full: a parser of Markdown, and calendars. */
const LIGHTER: Readonly<Record<string, string>> = {
  'markdown-to-jsx/react': fileURLToPath(new URL('forms/lighter/markdown.tsx', import.meta.url)),
  '@mantine/dates': fileURLToPath(new URL('forms/lighter/dates.tsx', import.meta.url)),
}

/** @returns gives the form kit modules of ours for large ones: half of what a form weighed (2026-11-24) */
const lighterForms = (): Plugin => ({
  name: 'lighter forms',
  enforce: 'pre',
  resolveId: (source, importer) =>
    importer?.includes('/node_modules/@rjsf/') ? (LIGHTER[source] ?? null) : null,
})

/* The docs as one file of the build: read when Help is opened, by no page else. */
const docs = fileURLToPath(new URL('../docs/', import.meta.url))

/** @returns puts docs/*.md into one JSON file, {name: text}; its address is the constant HELP_FILE */
function helpFile(): Plugin {
  const names = readdirSync(docs).filter((name) => name.endsWith('.md'))
  const text = JSON.stringify(
    Object.fromEntries(names.map((name) => [name.slice(0, -3), readFileSync(docs + name, 'utf8')])),
  )
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const file = `assets/help-${hash}.json`
  return {
    name: 'help file',
    config: () => ({ define: { HELP_FILE: JSON.stringify(`/${file}`) } }),
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: file, source: text })
    },
    configureServer({ middlewares }) {
      middlewares.use(`/${file}`, (_request, answer) => {
        answer.setHeader('content-type', 'application/json')
        answer.end(text)
      })
    },
  }
}

const ROUTES = fileURLToPath(new URL('routes.tsx', import.meta.url))
const areas = fileURLToPath(new URL('areas/', import.meta.url))
const first = fileURLToPath(new URL('first.js', import.meta.url))

/** @returns puts first.js into index.html, before what it loads, with the files of each page */
function firstOfAll(): Plugin {
  return {
    name: 'first of all',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) => {
        const text = readFileSync(first, 'utf8').replace(
          'ROUTES = []',
          `ROUTES = ${JSON.stringify(routesOf(bundle ?? {}))}`,
        )
        // Above the styles, for which a script would wait.
        const script = `<script>${minifySync('first.js', text).code}</script>`
        return html.replace('</title>', () => `</title>\n    ${script}`)
      },
    },
  }
}

/**
 * @param bundle empty while developing
 * @returns addresses, * for a name, with the files that their pages need besides those of the shell
 */
function routesOf(bundle: Rolldown.OutputBundle): [string[], string[]][] {
  const chunks = Object.values(bundle).filter((one) => one.type === 'chunk')
  const filesOf = (start: Rolldown.OutputChunk | undefined): Set<string> => {
    const found = new Set(start ? [start.fileName] : [])
    for (const file of found)
      for (const next of chunks.find(({ fileName }) => fileName === file)?.imports ?? []) found.add(next)
    return found
  }
  const shell = filesOf(chunks.find(({ isEntry }) => isEntry))
  const text = readFileSync(ROUTES, 'utf8')
  const areaOfPage = new Map(
    [...text.matchAll(/const (\w+) = (\w+)\('\w+'\)/g)].map(([, page, area]) => [page, area]),
  )
  const routes = new Map<string, string[]>()
  for (const [, path, page] of text.matchAll(/<Route path="(\/[^"]*)" element=\{<(\w+) /g)) {
    const area = areaOfPage.get(page!)
    if (!area) continue
    // What may be left out is two addresses.
    const paths = [path!.replace(/\/:\w+\?$/, ''), path!.replace(/:\w+\??/g, '*')]
    routes.set(area, [
      ...new Set([...(routes.get(area) ?? []), ...paths.filter((one) => !one.includes(':'))]),
    ])
  }
  return [...routes].map(([area, paths]) => {
    const files = filesOf(chunks.find(({ moduleIds }) => moduleIds.includes(`${areas}${area}.ts`)))
    return [paths, [...files].filter((file) => !shell.has(file)).map((file) => basename(file))]
  })
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [lighterForms(), react(), helpFile(), firstOfAll()],
  build: {
    outDir: fileURLToPath(new URL('../dist/console', import.meta.url)),
    emptyOutDir: true,
    manifest: true,
    cssCodeSplit: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    // The calls of the client are constants: each is put where it is used, not in a chunk for all.
    rolldownOptions: {
      optimization: { inlineConst: { mode: 'all', pass: 2 } },
      output: { codeSplitting: { groups: groupsOf(MAIN) } },
    },
  },
  server: {
    proxy: Object.fromEntries(
      [
        '/api',
        '/read',
        '/remember',
        '/subscribe',
        '/unsubscribe',
        '/health',
        '/ingest',
        '/docs',
        '/openapi.json',
      ].map((path) => [path, daemon]),
    ),
  },
})
