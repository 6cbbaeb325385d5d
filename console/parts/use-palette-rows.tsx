/** What the palette finds: pages, what is declared, entities; and what it does to them. */
import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  Bot,
  Cable,
  Check,
  FolderKanban,
  GraduationCap,
  Hash,
  LogOut,
  type LucideIcon,
  MessageCircleQuestion,
  Moon,
  Network,
  Pause,
  Play,
  Plus,
  Search,
  TriangleAlert,
  Wrench,
  Zap,
} from 'lucide-react'
import { api, keys } from '../client.ts'
import { declared, dkeys } from '../declared-client.ts'
import { ikeys, incidents } from '../incident-client.ts'
import { partPath } from '../lib/fields.ts'
import { incidentPath } from '../lib/incidents.ts'
import { idIn, isFound, longestWord, type Verb, verbIn } from '../lib/palette.ts'
import { countEvents } from '../lib/time.ts'
import { useIncidentActs } from '../lib/use-incident-acts.tsx'
import { type Moved, useMoves } from '../lib/use-moves.ts'
import { useMay } from './may.tsx'
import { FOOT, MENU, type MenuPage, menuPageOf } from './pages.ts'

const ICONS = {
  id: Hash,
  search: Search,
  ask: MessageCircleQuestion,
  new: Plus,
  theme: Moon,
  logout: LogOut,
  source: Cable,
  trigger: Zap,
  agent: Bot,
  project: FolderKanban,
  mcp_server: Wrench,
  skill: GraduationCap,
  entity: Network,
  incident: TriangleAlert,
  pause: Pause,
  resume: Play,
  done: Check,
} satisfies Record<string, LucideIcon>

/** Those that are a tab of another, or are gone to from one, are found by their own name, too. */
const TABS: Readonly<Record<string, string>> = {
  Firings: '/incidents?tab=firings',
  Proposals: '/changes',
  'Change history': '/changes?tab=history',
  'Catalog file': '/changes?tab=catalog',
  'API keys': '/settings?tab=access',
  'Model providers': '/settings?tab=providers',
  'Connect an agent': '/settings?tab=agents',
  Traces: '/traces',
  Metrics: '/traces?tab=metrics',
  'Agents in telemetry': '/traces?tab=agents',
  Evals: '/evals',
}
const PAGES: readonly MenuPage[] = [
  ...MENU.flatMap(({ pages }) => pages),
  ...FOOT,
  ...Object.entries(TABS).map(([label, to]) => ({ to, label, icon: menuPageOf(to.split('?')[0]!)!.icon })),
]

/** Of who may add. */
const FORMS: Row[] = [
  { id: 'new-project', label: 'New project', words: 'add', icon: 'new', to: '/projects/new' },
  { id: 'new', label: 'Add source', words: 'new', icon: 'new', to: '/sources/new' },
  { id: 'new-trigger', label: 'Add trigger', words: 'new', icon: 'new', to: '/triggers/new' },
  { id: 'new-agent', label: 'Add agent', words: 'new', icon: 'new', to: '/agents/new' },
]

export interface Row {
  id: string
  label: string
  description?: string
  /** Found by them, too. */
  words?: string
  icon: keyof typeof ICONS | LucideIcon
  /** Where it leads, or what it does. */
  to?: string
  act?: () => void
}

export function iconOf(icon: Row['icon']) {
  const Icon = typeof icon === 'string' ? ICONS[icon] : icon
  return <Icon size={16} strokeWidth={1.7} aria-hidden />
}

/** What can be paused is of these. */
function useDeclared(enabled: boolean) {
  return {
    sources: useQuery({ queryKey: keys.sources, queryFn: api.sources, enabled }),
    projects: useQuery({ queryKey: dkeys.projects, queryFn: declared.projects, enabled }),
    triggers: useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers, enabled }),
    agents: useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents(), enabled }),
  }
}

const SETTLE_MS = 150
/** More of them would leave no room for what else has the words. */
const INCIDENTS_MAX = 5

/** Incidents of any state that have the words in their headline, trigger or entity, as the daemon finds them. */
function useIncidentRows(enabled: boolean, query: string): { rows: Row[]; isRead: boolean } {
  const [settled] = useDebouncedValue(query, SETTLE_MS)
  const q = longestWord(settled)
  const isAsked = enabled && q.length > 1 && idIn(query) === null
  const { data, isPending } = useQuery({
    queryKey: [...ikeys.list({ q, state: 'all' }), 'palette'],
    queryFn: async () => ({ pages: [await incidents.list({ q, state: 'all' })], pageParams: [undefined] }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  })
  const rows = (isAsked ? (data?.pages ?? []) : [])
    .flatMap((page) => page.incidents)
    .map(
      ({ id, number, headline, trigger, key, entity, state }): Row => ({
        id,
        label: headline,
        description: `Incident #${number}, ${state}, ${entity ? `${entity.label}=${entity.value}` : key}`,
        words: trigger,
        icon: 'incident',
        to: incidentPath(number),
      }),
    )
  return {
    rows: rows
      .filter(({ label, description, words }) => isFound(query, label, description, words))
      .slice(0, INCIDENTS_MAX),
    isRead: !isAsked || (!isPending && settled === query),
  }
}

/** @param enabled the palette is open @returns isRead: all of it was answered, or cannot be read */
export function usePaletteRows(enabled: boolean, query: string, secured: boolean, onLogOut: () => void) {
  const may = useMay()
  const incidentRows = useIncidentRows(enabled, query)
  const { toggleColorScheme } = useMantineColorScheme()
  const { sources, projects, triggers, agents } = useDeclared(enabled)
  const servers = useQuery({ queryKey: dkeys.mcpServers, queryFn: declared.mcpServers, enabled })
  const skills = useQuery({ queryKey: dkeys.skills, queryFn: declared.skills, enabled })
  const entities = useQuery({ queryKey: keys.entities, queryFn: () => api.entities(), enabled })
  const pages: Row[] = [
    ...PAGES.map(({ to, label, icon }) => ({
      id: `page:${label}`,
      label,
      icon,
      to,
      ...(to === '/ask' ? { description: 'Questions about what happened, and why (Ctrl I)' } : {}),
      ...(to === '/mcp-servers' ? { description: 'MCP servers' } : {}),
      ...(to === '/explore' ? { words: 'timelines events' } : {}),
    })),
    ...(may ? FORMS : []),
    { id: 'theme', label: 'Switch theme', words: 'light dark', icon: 'theme', act: toggleColorScheme },
    ...(secured ? [{ id: 'logout', label: 'Log out', icon: 'logout' as const, act: onLogOut }] : []),
  ]
  const of = (
    kind: 'source' | 'trigger' | 'agent' | 'mcp_server',
    name: string,
    description: string,
  ): Row => ({
    id: `${kind}:${name}`,
    label: name,
    description,
    icon: kind,
    to: partPath(kind, name),
  })
  const groups: { group: string; rows: Row[] }[] = [
    { group: 'Go to', rows: pages },
    { group: 'Incidents', rows: incidentRows.rows },
    {
      group: 'Projects',
      rows: (projects.data ?? []).map(({ id, name, template_title }) => ({
        id: `project:${id}`,
        label: name,
        description: `Project, ${template_title}`,
        icon: 'project',
        to: `/projects/${id}`,
      })),
    },
    {
      group: 'Triggers',
      rows: (triggers.data ?? []).map(({ name, sentence }) => of('trigger', name, `Trigger: ${sentence}`)),
    },
    {
      group: 'Agents',
      rows: (agents.data?.agents ?? []).map(({ name, prompt }) =>
        of('agent', name, `Agent: ${prompt.split('\n')[0]}`),
      ),
    },
    {
      group: 'Sources',
      rows: (sources.data ?? []).map(({ name, connector }) => of('source', name, `Source, ${connector}`)),
    },
    {
      group: 'Tools and skills',
      rows: [
        ...(servers.data ?? []).map(({ name }) => of('mcp_server', name, 'MCP server')),
        ...(skills.data ?? []).map(({ name, used_by }) => ({
          id: `skill:${name}`,
          label: name,
          description: 'Skill',
          icon: 'skill' as const,
          to: `/skills/${encodeURIComponent(name)}?project=${used_by[0]?.id ?? ''}`,
        })),
      ],
    },
    {
      group: 'Entities',
      rows: (entities.data?.labels ?? []).flatMap(({ label, values }) =>
        values.map(({ value, events }) => ({
          id: `entity:${label}=${value}`,
          label: `${label}=${value}`,
          description: countEvents(events),
          icon: 'entity' as const,
          to: `/explore?l=${encodeURIComponent(`${label}=${value}`)}`,
        })),
      ),
    },
  ]
  const all = [sources, projects, triggers, agents, servers, skills, entities]
  const isRead = incidentRows.isRead && all.every((one) => !one.isPending)
  return { groups, isRead }
}

const WORDS: Record<Verb, string> = {
  pause: 'Pause',
  resume: 'Resume',
  acknowledge: 'Acknowledge',
  handle: 'Mark handled',
  reopen: 'Reopen',
}
const DOES = { acknowledge: 'acknowledge', handle: 'handle', reopen: 'reopen' } as const

/** What a verb at the head of the query can be done to; each with Undo. */
export function usePaletteActs(enabled: boolean, query: string): Row[] {
  const asked = verbIn(query)
  const may = { admin: useMay(), respond: useMay('respond') }
  const { sources, projects, triggers, agents } = useDeclared(enabled)
  const isOfIncident = asked !== null && asked.verb in DOES
  const state = asked?.verb === 'reopen' ? 'handled' : 'active'
  const open = useQuery({
    queryKey: [...ikeys.list({ state }), 'palette'],
    queryFn: async () => ({ pages: [await incidents.list({ state })], pageParams: [undefined] }),
    enabled: enabled && isOfIncident,
  })
  const move = useMoves()
  const act = useIncidentActs()
  if (asked === null) return []
  const { verb, of } = asked
  if (!may[isOfIncident ? 'respond' : 'admin']) return []
  if (verb === 'pause' || verb === 'resume') {
    const all: (Moved & { accepts: readonly string[] })[] = [
      ...(sources.data ?? []).map((one) => ({ ...one, kind: 'source' as const, id: one.name })),
      ...(triggers.data ?? []).map((one) => ({ ...one, kind: 'trigger' as const, id: one.name })),
      ...(agents.data?.agents ?? []).map(({ name, enabled }) => ({
        kind: 'agent' as const,
        id: name,
        name,
        accepts: [enabled ? 'pause' : 'resume'],
      })),
      ...(projects.data ?? []).map((one) => ({ ...one, kind: 'project' as const })),
    ]
    return all
      .filter(({ name, accepts }) => accepts.includes(verb) && isFound(of, name))
      .map(({ kind, id, name }) => ({
        id: `${verb}:${kind}:${id}`,
        label: `${WORDS[verb]} ${name}`,
        description: kind,
        icon: verb,
        act: () => void move({ kind, id, name }, verb),
      }))
  }
  const action = DOES[verb]
  return (open.data?.pages ?? [])
    .flatMap(({ incidents }) => incidents)
    .filter(
      (one) =>
        one.accepts.includes(action) && isFound(of, `#${one.number}`, one.headline, one.trigger, one.key),
    )
    .map((one) => ({
      id: `${verb}:${one.id}`,
      label: `${WORDS[verb]} #${one.number}`,
      description: one.headline,
      icon: 'done' as const,
      act: () => void act(one, { action }),
    }))
}
