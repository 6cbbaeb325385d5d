/** The command palette: pages, actions, sources and entities (Ctrl or Cmd K). */
import '@mantine/spotlight/styles.css'
import { useMantineColorScheme } from '@mantine/core'
import { createSpotlight, Spotlight, type SpotlightActionData, useSpotlight } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { Bot, Cable, FolderKanban, LogOut, Moon, Plus, Search, Tag, Zap } from 'lucide-react'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { api, keys } from '../client.ts'
import { declared, dkeys } from '../declared-client.ts'
import { triggerPath } from '../lib/firings.ts'
import { agentPath } from '../lib/runs.ts'
import { count } from '../lib/time.ts'
import { PAGES } from './pages.ts'
import { paletteDoor } from './palette-door.ts'

const [store, palette] = createSpotlight()

/** Selects the first row, as a change of the query does, so that Enter opens it. */
function selectFirst(): void {
  const list = document.getElementById(store.getState().listId)
  if (list === null || list.querySelector('[data-selected]') !== null) return
  const first = list.querySelector('[data-action]')
  if (first === null) return
  first.setAttribute('data-selected', 'true')
  store.updateState((state) => ({ ...state, selected: 0 }))
}

export function Palette({ secured, onLogOut }: { secured: boolean; onLogOut: () => void }) {
  const go = useNavigate()
  const { toggleColorScheme } = useMantineColorScheme()
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const projects = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  const triggers = useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers })
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  const entities = useQuery({ queryKey: keys.entities, queryFn: () => api.entities() })
  // It is loaded because it is wanted.
  useEffect(() => {
    paletteDoor.isHere(palette)
    palette.open()
  }, [])
  const { query } = useSpotlight(store)
  const rows = [sources.data, projects.data, triggers.data, agents.data, entities.data]
  // The list selects its first row when the query changes; rows that are answered after it was typed have none selected.
  useEffect(() => {
    if (query.trim() !== '') selectFirst()
  }, [query, ...rows])
  const icon = (Icon: typeof Cable) => <Icon size={17} aria-hidden />
  const pages: SpotlightActionData[] = [
    ...PAGES.map(({ to, label, icon: Icon }) => ({
      id: to,
      label: to === '/explore' ? 'Explore timelines' : label,
      ...(to === '/ask' ? { description: 'Questions about what happened, and why (Ctrl I)' } : {}),
      leftSection: icon(Icon),
      onClick: () => void go(to),
    })),
    {
      id: 'new-project',
      label: 'New project',
      leftSection: icon(Plus),
      onClick: () => void go('/projects/new'),
    },
    { id: 'new', label: 'Add a source', leftSection: icon(Plus), onClick: () => void go('/sources/new') },
    {
      id: 'new-trigger',
      label: 'Add a trigger',
      leftSection: icon(Plus),
      onClick: () => void go('/triggers/new'),
    },
    {
      id: 'theme',
      label: 'Switch between light and dark',
      leftSection: icon(Moon),
      onClick: toggleColorScheme,
    },
    ...(secured ? [{ id: 'logout', label: 'Log out', leftSection: icon(LogOut), onClick: onLogOut }] : []),
  ]
  const found: SpotlightActionData[] = (sources.data ?? []).map((source) => ({
    id: `s:${source.name}`,
    label: source.name,
    description: `Source, ${source.connector}`,
    leftSection: icon(Cable),
    onClick: () => void go(`/sources/${encodeURIComponent(source.name)}`),
  }))
  const owned: SpotlightActionData[] = (projects.data ?? []).map((project) => ({
    id: `p:${project.id}`,
    label: project.name,
    description: `Project, ${project.template_title}`,
    leftSection: icon(FolderKanban),
    onClick: () => void go(`/projects/${project.id}`),
  }))
  const waiting: SpotlightActionData[] = (triggers.data ?? []).map((trigger) => ({
    id: `t:${trigger.name}`,
    label: trigger.name,
    description: `Trigger: ${trigger.sentence}`,
    leftSection: icon(Zap),
    onClick: () => void go(triggerPath(trigger.name)),
  }))
  const working: SpotlightActionData[] = (agents.data?.agents ?? []).map(({ name, prompt }) => ({
    id: `a:${name}`,
    label: name,
    description: `Agent: ${prompt.split('\n')[0]}`,
    leftSection: icon(Bot),
    onClick: () => void go(agentPath(name)),
  }))
  const values: SpotlightActionData[] = (entities.data?.labels ?? []).flatMap((facet) =>
    facet.values.map((value) => ({
      id: `e:${facet.label}=${value.value}`,
      label: `${facet.label}=${value.value}`,
      description: `${count(value.events)} events`,
      leftSection: icon(Tag),
      onClick: () => void go(`/explore?l=${encodeURIComponent(`${facet.label}=${value.value}`)}`),
    })),
  )
  return (
    <Spotlight
      store={store}
      actions={[
        { group: 'Go to', actions: pages },
        { group: 'Projects', actions: owned },
        { group: 'Triggers', actions: waiting },
        { group: 'Agents', actions: working },
        { group: 'Sources', actions: found },
        { group: 'Entities', actions: values },
      ]}
      shortcut={['mod + K']}
      limit={12}
      scrollable
      maxHeight={420}
      nothingFound="Nothing found"
      searchProps={{
        placeholder: 'Search pages, sources and entities',
        'aria-label': 'Search',
        leftSection: <Search size={17} aria-hidden />,
      }}
    />
  )
}
