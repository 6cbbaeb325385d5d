/** The command palette: any id, name or words, and what is done to them (Ctrl or Cmd K). */
import { createSpotlight, Spotlight, type SpotlightActionData, useSpotlight } from '@mantine/spotlight'
import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { idIn, isFound, verbIn } from '../lib/palette.ts'
import { FIELD_LABEL, paletteDoor } from './palette-door.ts'
import { useAskedId } from './use-asked-id.ts'
import { iconOf, type Row, usePaletteActs, usePaletteRows } from './use-palette-rows.tsx'

const [store, palette] = createSpotlight()
const SHOWN_MAX = 12

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
  const [typed, setTyped] = useState('')
  // It is loaded because it is wanted.
  useEffect(() => {
    paletteDoor.isHere({ ...palette, type: (text) => setTyped((now) => text + now) })
    palette.open()
  }, [])
  const { opened } = useSpotlight(store)
  const query = typed.trim()
  const id = useAskedId(query)
  const { groups, isRead } = usePaletteRows(opened, query, secured, onLogOut)
  const acts = usePaletteActs(opened, query)
  const found = groupsFor()
  const shown = found.flatMap(({ rows }) => rows.map((row) => row.id)).join(' ')
  // The list selects its first row when the query changes; rows that are answered after it was typed have none selected.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows that are shown stand for what made them.
  useEffect(() => {
    if (query !== '') selectFirst()
  }, [query, shown])

  function groupsFor(): { group: string; rows: Row[] }[] {
    if (id.asked !== null) {
      if (id.named === null) return []
      const { label, description, to } = id.named
      return [{ group: 'Open', rows: [{ id: to, label, description, icon: 'id', to }] }]
    }
    if (query === '') return groups.slice(0, 1)
    const known = groups
      .map(({ group, rows }) => ({
        group,
        rows: rows.filter(({ label, description, words }) => isFound(query, label, description, words)),
      }))
      .filter(({ rows }) => rows.length > 0)
    const all = acts.length > 0 ? [{ group: 'Do', rows: acts }, ...known] : known
    // While something is still read, what is not found may yet be.
    if (all.length > 0 || !isRead || verbIn(query)) return all
    const words = encodeURIComponent(query)
    return [
      {
        group: `“${query}”`,
        rows: [
          { id: 'in-events', label: 'Search events', icon: 'search', to: `/explore?q=${words}&window=24h` },
          { id: 'in-incidents', label: 'Search incidents', icon: 'search', to: `/incidents?q=${words}` },
          { id: 'in-help', label: 'Search help', icon: 'search', to: `/help?q=${words}` },
          { id: 'ask', label: 'Ask', icon: 'ask', to: `/ask?q=${words}` },
        ],
      },
    ]
  }

  const actionOf = ({ id, label, description, icon, to, act }: Row): SpotlightActionData => ({
    id,
    label,
    ...(description === undefined ? {} : { description }),
    leftSection: iconOf(icon),
    onClick: () => (to === undefined ? act?.() : void go(to)),
  })
  return (
    <Spotlight
      store={store}
      query={typed}
      onQueryChange={setTyped}
      actions={found.map(({ group, rows }) => ({ group, actions: rows.map(actionOf) }))}
      // What fits was found above: by all words, ids and verbs.
      filter={(_query, actions) => actions}
      attributes={{ content: { 'aria-label': 'Search and act' } }}
      // The door has it, which keeps what is typed until the field is there.
      shortcut={null}
      limit={query === '' ? undefined : SHOWN_MAX}
      scrollable
      maxHeight={420}
      nothingFound={<span role="status">{nothingWords(query, id.said)}</span>}
      searchProps={{
        placeholder: 'Search or act: evt_12, #128, pause app-logs',
        'aria-label': FIELD_LABEL,
        leftSection: <Search size={17} aria-hidden />,
      }}
    />
  )
}

function nothingWords(query: string, ofId: string): string {
  if (idIn(query) !== null) return ofId
  const verb = verbIn(query)
  return verb?.of ? `Nothing to ${verb.verb} is called ${verb.of}` : 'Nothing found'
}
