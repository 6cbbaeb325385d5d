/**
 * The rooms of the engine: few folders with few files each, tables that one room writes, functions that are read
 * at a glance. Which room imports which is in .dependency-cruiser.cjs.
 */
import { posix } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { projectFiles, textOf } from './project-files.ts'

const product = projectFiles().filter(
  (file) =>
    /^(schemas|machines|engine|api|console|scripts)\/.*\.(ts|tsx|mjs)$/.test(file) &&
    !/^(schemas\/(types|registry|tools)|api\/client\/calls)\.ts$|\/kernel\/assembly\//.test(file),
)
const engine = product.filter((file) => file.startsWith('engine/'))
const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'))

/** Folders with a file for each noun and each connector, however many there are. */
const ONE_EACH = new Set(['engine/operations', 'engine/sources/connectors'])

describe('folders of the engine', () => {
  it('hold at most 12 files, but for operations and connectors, of which each has one', () => {
    const counts = new Map<string, number>()
    for (const file of engine) counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + 1)
    const full = [...counts].filter(([folder, files]) => files > 12 && !ONE_EACH.has(folder))
    expect(full).toEqual([])
  })

  it('are 32 at most, with 330 files at most, in three levels', () => {
    const folders = new Set(engine.map(folderOf))
    folders.delete('engine')
    expect(folders.size).toBeLessThanOrEqual(32)
    expect(engine.length).toBeLessThanOrEqual(330)
    expect(engine.filter((file) => file.split('/').length > 4)).toEqual([])
  })
})

const ROOMS = [...new Set(engine.map((file) => file.split('/')[1]!))].filter((room) => !room.includes('.'))

/** The rooms that write each table, as their statements say. */
function writers(): Map<string, Set<string>> {
  const rooms = new Map<string, Set<string>>()
  // What the demo left anywhere goes with it, in one transaction.
  for (const file of engine.filter((one) => one !== 'engine/declared/setup/demo.ts')) {
    const statements =
      /\b(?:INSERT(?: OR \w+)? INTO|REPLACE INTO|UPDATE(?: OR \w+)?|DELETE FROM)\s+([a-z_]+)/g
    for (const [, table] of textOf(file).matchAll(statements))
      if (!['set', 'on', 'of', 'it', 'added_'].includes(table!))
        rooms.set(table!, (rooms.get(table!) ?? new Set()).add(file.split('/')[1]!))
  }
  return rooms
}

describe('a table', () => {
  /** Tables that another room writes too, with those rooms: none is added. */
  const SHARED: Readonly<Record<string, string[]>> = {
    // What is old goes in one place, oldest first.
    ask_sessions: ['agents', 'log'],
    ask_turns: ['agents', 'log'],
    evaluations: ['log', 'triggers'],
    firings: ['declared', 'incidents', 'log', 'triggers'],
    handoffs: ['agents', 'declared', 'log'],
    incidents: ['incidents', 'log'],
    proposals: ['declared', 'log'],
    runs: ['agents', 'declared', 'incidents', 'log'],
    // Which catalog files were applied, and that incidents are to be adopted, beside facts of the file.
    meta: ['declared', 'incidents', 'log'],
    // How much a source holds is counted as its events are stored.
    sources: ['log', 'sources'],
  }

  it('is written by one room', () => {
    const rooms = writers()
    const shared = [...rooms].filter(([, by]) => by.size > 1).map(([table, by]) => [table, [...by].sort()])
    expect(Object.fromEntries(shared)).toEqual(SHARED)
    expect(rooms.size).toBeGreaterThan(40)
  })

  it('is named by the room that owns it, in its README, and by no other', () => {
    const owners = new Map<string, string[]>()
    for (const room of ROOMS) {
      const [, tables = ''] =
        /^Tables: (.*)$/ms.exec(textOf(`engine/${room}/README.md`).split('\n\nBegin')[0]!) ?? []
      for (const [, table] of tables.matchAll(/`(\w+)`/g))
        owners.set(table!, [...(owners.get(table!) ?? []), room])
    }
    expect([...owners].filter(([, by]) => by.length > 1)).toEqual([])
    const unowned = [...writers()].filter(([table, by]) => !by.has(owners.get(table)?.[0] ?? ''))
    expect(unowned.map(([table]) => table)).toEqual([])
  })
})

describe('functions', () => {
  it('have at most 80 lines of their own, without the functions they make', () => {
    const long: Record<string, number> = {}
    for (const file of product) {
      const source = ts.createSourceFile(
        file,
        textOf(file),
        ts.ScriptTarget.Latest,
        true,
        file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
      )
      const visit = (node: ts.Node): void => {
        if (ts.isFunctionLike(node) && 'body' in node && node.body) {
          const lines = ownLines(source, node)
          if (lines > 80) long[`${file} ${nameOf(node)}`] = lines
        }
        ts.forEachChild(node, visit)
      }
      visit(source)
    }
    expect(long).toEqual({})
  })
})

describe('the ways through the house in ARCHITECTURE.md', () => {
  const section = textOf('ARCHITECTURE.md').split('## Four ways through the house')[1]!.split('\n## ')[0]!
  const [ways, newcomers] = section.split('| To change')

  it('are four of at most 15 files, all of which are there', () => {
    const rows = ways!
      .split('\n')
      .filter((line) => line.includes('`'))
      .map((line) => line.split('|').slice(1, -1))
    expect(rows[0]).toHaveLength(4)
    for (const way of [0, 1, 2, 3]) {
      const files = rows.map((row) => row[way]!.trim().replaceAll('`', '')).filter(Boolean)
      expect(files.filter((file) => !product.includes(file))).toEqual([])
      expect(files.length).toBeGreaterThan(8)
      expect(files.length).toBeLessThanOrEqual(15)
    }
  })

  it('are followed by what a newcomer opens, whose folders and files are there', () => {
    const named = [...newcomers!.matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(([, path]) => path!)
    expect(named.length).toBeGreaterThan(7)
    expect(named.filter((path) => !product.some((file) => `/${file}`.includes(`/${path}`)))).toEqual([])
  })
})

describe('what a thread loads at its start', () => {
  const readers = product.filter((file) => file.startsWith('engine/'))

  /** What a file imports for more than types, and what that does; not what it imports when it is needed. */
  function loadedBy(entry: string): Set<string> {
    const loaded = new Set<string>()
    const load = (file: string): void => {
      if (loaded.has(file)) return
      loaded.add(file)
      const imports = /^(?:import|export) (?!type)(?:[^'\n]*|\{[^}]*\}) from '(\.[^']+)'/gm
      for (const [statement, from] of textOf(file).matchAll(imports)) {
        const names = /\{([^}]*)\}/
          .exec(statement)?.[1]
          ?.split(',')
          .filter((name) => name.trim())
        const to = posix.join(posix.dirname(file), from!)
        if (readers.includes(to) && !names?.every((name) => name.trim().startsWith('type '))) load(to)
      }
    }
    load(entry)
    return loaded
  }

  it('is, of a reader, nothing that writes what is declared: that comes with the first call that asks for it', () => {
    const loaded = loadedBy('engine/roles/reader.ts')
    expect(loaded).toContain('engine/triggers/reads.ts')
    expect(loaded).not.toContain('engine/declared/calls.ts')
    expect(loaded).not.toContain('engine/documents/change-sets.ts')
  })

  it('is, of any, no client of HTTP and no resolver: those come with the first request', () => {
    const heavy = /^import (?!type )[^'\n]* from '(?:node:(?:https?|http2|dns(?:\/promises)?)|undici)'/m
    expect(heavy.test(textOf('engine/net/exchange.ts'))).toBe(true)
    for (const entry of ['reader', 'writer', 'preparer'])
      expect([...loadedBy(`engine/threads/${entry}.ts`)].filter((file) => heavy.test(textOf(file)))).toEqual(
        [],
      )
  })

  it('is not what leaves the machine, but for the one way out, which checks where it leads', () => {
    // `fetch` as a value is Node's own; given ones are parameters and fields. Deadlines are those of the way out too.
    const own =
      /\bhttp: fetch\b|\?\? fetch\b|globalThis\.fetch|(?<![.\w])fetch\(|AbortSignal\.timeout|node:https?'(?!\)? *;? *$)/m
    const asks = engine.filter((file) => {
      const code = textOf(file).replaceAll(/^import type .*$|^\s*(\*|\/\/|\/\*).*$/gm, '')
      return own.test(code) || /from '(?:undici|node:https?)'|getBuiltinModule\('node:https?'\)/.test(code)
    })
    expect(asks).toEqual(['engine/net/exchange.ts'])
  })

  it('is, of the preparer, no table and no trigger', () => {
    const loaded = [...loadedBy('engine/threads/preparer.ts')]
    expect(loaded).toContain('engine/log/ingest/kernel.ts')
    expect(loaded.filter((file) => /^engine\/(triggers|agents|declared|outbox|roles)\//.test(file))).toEqual(
      [],
    )
  })
})

describe('comments', () => {
  it('name files that are there: beside them, in their room, or by a folder', () => {
    const all = projectFiles()
    const lost = engine.flatMap((file) => {
      const room = file.split('/').slice(0, 2).join('/')
      return textOf(file)
        .split('\n')
        .filter((line) => /^\s*(\*|\/\*|\/\/)/.test(line))
        .flatMap((line) =>
          [...line.matchAll(/(?<![\w/.-])((?:[\w-]+\/)*[\w-]+\.ts)\b/g)].map(([, name]) => name!),
        )
        .filter(
          (name) =>
            !all.some((one) => one.endsWith(`/${name}`) && (name.includes('/') || one.startsWith(room))),
        )
        .filter((name) => !all.includes(name) && !all.includes(`engine/${name}`))
        .map((name) => `${file}: ${name}`)
    })
    expect(lost).toEqual([])
  })
})

const linesOf = (source: ts.SourceFile, node: ts.Node): number =>
  source.getLineAndCharacterOfPosition(node.getEnd()).line -
  source.getLineAndCharacterOfPosition(node.getStart()).line

function ownLines(source: ts.SourceFile, node: ts.Node): number {
  let lines = linesOf(source, node) + 1
  const visit = (child: ts.Node): void => {
    if (ts.isFunctionLike(child) && 'body' in child && child.body) lines -= linesOf(source, child)
    else ts.forEachChild(child, visit)
  }
  ts.forEachChild(node, visit)
  return lines
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name) return node.name.getText()
  const { parent } = node
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)
    ? parent.name.getText()
    : '(unnamed)'
}
