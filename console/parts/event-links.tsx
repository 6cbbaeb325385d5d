/** Events by their ids, each a link to where it is on the timeline. */
import { Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { eventPath } from '../lib/explore-state.ts'

const LISTED = 12

interface Props {
  ids: readonly string[]
  /** The entity on whose timeline they are looked at. */
  entity?: { label: string; value: string } | undefined
}

export function EventLinks({ ids, entity }: Props) {
  const [all, setAll] = useState(false)
  if (ids.length === 0) return <span>none</span>
  const listed = all ? ids : ids.slice(0, LISTED)
  return (
    <span className="event-links">
      {listed.map((id) => (
        <Link key={id} to={eventPath(id, entity)} className="mono">
          {id}
        </Link>
      ))}
      {ids.length > listed.length && (
        <button type="button" className="text-button" onClick={() => setAll(true)}>
          and {ids.length - listed.length} more
        </button>
      )}
    </span>
  )
}

/** The same with how many each stood for. */
export function ShownEvents({
  shown,
  entity,
  word,
}: {
  shown: readonly { id: string; count: number }[]
  entity?: Props['entity']
  word: string
}) {
  if (shown.length === 0) return null
  const total = shown.reduce((sum, { count }) => sum + count, 0)
  return (
    <Text size="sm" component="div">
      {word} {shown.length === 1 ? '1 event' : `${shown.length} events`}
      {total > shown.length && `, which stand for ${total}`}:{' '}
      <EventLinks ids={shown.map(({ id }) => id)} entity={entity} />
    </Text>
  )
}
