/** The metrics there are, searched and narrowed by a label, to be ticked. */
import { Alert, Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, type RefObject, useRef, useState } from 'react'
import { count } from '../../lib/time.ts'
import { LoadingRows } from '../../parts/states.tsx'
import { NameList } from './name-list.tsx'
import { type Ask, type Choice, metricsText, type Offer, toggled, withAll } from './picking.ts'
import { type Listed, useListed } from './use-listed.ts'

interface Props {
  /** Tells the answers of one discovery from those of another. */
  id: number
  offer: Offer
  choice: Choice
  onChange: (more: Partial<Choice>) => void
  ask: Ask
  onNext: () => void
  onDrop: () => void
}

/** Labels shown at once in the menu; typing finds the others. */
const LABELS_SHOWN = 100

export function ChooseStep({ id, offer, choice, onChange, ask, onNext, onDrop }: Props) {
  const [isOnlyChosen, setOnlyChosen] = useState(false)
  const list = useRef<HTMLElement>(null)
  const listed = useListed(id, offer, choice, isOnlyChosen, ask)
  const parts = { offer, choice, onChange, listed, isOnlyChosen, setOnlyChosen, list }
  return (
    <Stack gap="sm">
      <div>
        <Text fw={600}>Choose metrics</Text>
        <Text size="sm" c="dimmed">
          Up to {offer.most} for one source. The next step takes a sample of each and proposes the queries and
          labels.
        </Text>
      </div>
      <Filters {...parts} />
      <Standing {...parts} />
      <Names {...parts} />
      {listed.cutAt !== null && (
        <Text size="sm" c="dimmed">
          There are more than the {count(listed.cutAt)} that can be listed. A label brings up those that carry
          it.
        </Text>
      )}
      <Group gap="xs">
        <Button size="sm" disabled={choice.names.size === 0} onClick={onNext}>
          Continue
        </Button>
        <Button size="sm" variant="default" onClick={onDrop}>
          Close
        </Button>
      </Group>
    </Stack>
  )
}

interface Parts extends Pick<Props, 'offer' | 'choice' | 'onChange'> {
  listed: Listed
  isOnlyChosen: boolean
  setOnlyChosen: (isOnlyChosen: boolean) => void
  list: RefObject<HTMLElement | null>
}

function Filters({ offer, choice, onChange, list }: Parts) {
  return (
    <div className="pick-filters">
      <TextInput
        label="Search metrics"
        placeholder="http requests"
        value={choice.search}
        onChange={(event) => onChange({ search: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          list.current?.focus()
        }}
      />
      <Select
        label="Carries label"
        placeholder="Any label"
        data={offer.labels}
        value={choice.label}
        onChange={(label) => onChange({ label })}
        limit={LABELS_SHOWN}
        nothingFoundMessage="No such label"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Any label' }}
      />
    </div>
  )
}

/** How many are listed and chosen, and what changes many at once. */
function Standing({ offer: { most }, choice, onChange, listed, isOnlyChosen, setOnlyChosen }: Parts) {
  const { names: chosen } = choice
  const shown = listed.names.length
  const all = isOnlyChosen || listed.isWaiting ? null : withAll(chosen, listed.names, most)
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" role="status">
        {listed.isWaiting ? 'Asking which metrics carry it…' : `${metricsText(shown)} listed`} ·{' '}
        <Text span fw={600} size="sm">
          {chosen.size} of at most {most} chosen
        </Text>
        {chosen.size >= most && '. Take one out to choose another.'}
      </Text>
      <Group gap="sm">
        <Checkbox
          size="xs"
          label="Selected only"
          checked={isOnlyChosen}
          onChange={(event) => setOnlyChosen(event.currentTarget.checked)}
        />
        {all && (
          <Button size="compact-sm" variant="default" onClick={() => onChange({ names: all })}>
            {shown === 1 ? 'Choose the one listed' : `Choose all ${shown} listed`}
          </Button>
        )}
        {chosen.size > 0 && (
          <Button size="compact-sm" variant="default" onClick={() => onChange({ names: new Set() })}>
            Clear selection
          </Button>
        )}
      </Group>
    </Group>
  )
}

function Names({ offer, choice, onChange, listed, isOnlyChosen, setOnlyChosen, list }: Parts) {
  const { names: chosen, search, label } = choice
  const showAll = () => {
    onChange({ search: '', label: null })
    setOnlyChosen(false)
  }
  if (listed.isWaiting) return <LoadingRows rows={4} />
  if (listed.error)
    return (
      <Nothing title="Nothing is listed" why={listed.error.message}>
        <Button size="xs" variant="default" onClick={listed.again}>
          Ask again
        </Button>
        <Button size="xs" variant="default" onClick={showAll}>
          Show all {count(offer.metrics.length)}
        </Button>
      </Nothing>
    )
  if (listed.names.length === 0)
    return (
      <Nothing
        title={isOnlyChosen && chosen.size === 0 ? 'Nothing is chosen yet' : 'No metric matches'}
        why={search.trim() ? `No name contains “${search.trim()}”.` : 'Tick some in the whole list.'}
      >
        <Button size="xs" variant="default" onClick={showAll}>
          Show all {count(offer.metrics.length)}
        </Button>
      </Nothing>
    )
  return (
    <NameList
      // Another list begins at its top.
      key={`${label} ${isOnlyChosen} ${listed.search}`}
      ref={list}
      title="Metrics"
      names={listed.names}
      chosen={chosen}
      isFull={chosen.size >= offer.most}
      onToggle={(name) => onChange({ names: toggled(chosen, name, offer.most) })}
    />
  )
}

function Nothing({ title, why, children }: { title: string; why: string; children: ReactNode }) {
  return (
    <Alert color="gray" title={title} role="alert">
      <Text size="sm">{why}</Text>
      <Group gap="xs" mt="sm">
        {children}
      </Group>
    </Alert>
  )
}
