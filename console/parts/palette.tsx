/** The command palette: pages, actions, sources and entities (Ctrl or Cmd K). */
import { useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { Cable, KeyRound, LogOut, Moon, Plus, Search, Tag, Waypoints } from 'lucide-react'
import { useNavigate } from 'react-router'
import { api, keys } from '../client.ts'
import { count } from '../lib/time.ts'

export function Palette({ secured, onLogOut }: { secured: boolean; onLogOut: () => void }) {
  const go = useNavigate()
  const { toggleColorScheme } = useMantineColorScheme()
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const entities = useQuery({ queryKey: keys.entities, queryFn: () => api.entities() })
  const icon = (Icon: typeof Cable) => <Icon size={17} aria-hidden />
  const pages: SpotlightActionData[] = [
    { id: 'sources', label: 'Sources', leftSection: icon(Cable), onClick: () => void go('/sources') },
    {
      id: 'explore',
      label: 'Explore timelines',
      leftSection: icon(Waypoints),
      onClick: () => void go('/explore'),
    },
    { id: 'keys', label: 'API keys', leftSection: icon(KeyRound), onClick: () => void go('/keys') },
    { id: 'new', label: 'Add a source', leftSection: icon(Plus), onClick: () => void go('/sources/new') },
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
      actions={[
        { group: 'Go to', actions: pages },
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
