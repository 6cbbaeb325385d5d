/** The side panel of a part that is being made. */
import { Button, Group, Stack, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { KIND_WORDS } from '../../../lib/fields.ts'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import type { PartRef } from '../../draft/ids.ts'
import { nameRefusal, type Place } from '../../draft/parts.ts'
import { PartForm } from '../forms/part-form.tsx'
import type { Actions } from '../state/use-actions.ts'
import type { Editor } from '../state/use-editor.ts'
import { useTyped } from '../state/use-typed.ts'

interface Props {
  editor: Editor
  actions: Actions
  kind: PartRef['kind']
  /** Where it was dropped. */
  at: Place | null
  /** @param id of the part, once it is in the draft; null: it was given up. */
  onDone: (id: string | null) => void
}

/** A new part, before it is in the draft: what it needs is filled in first. */
export function NewPartPanel({ editor, actions, kind, at, onDone }: Props) {
  const sources = editor.graph.nodes.filter((node) => node.kind === 'source').map((node) => node.name)
  const start = kind === 'trigger' && sources.length === 1 ? { sources } : {}
  const kept = useTyped(`new:${kind}`, kind, start)
  const { edited } = kept
  const [isTried, setTried] = useState(false)
  const proposed = edited?.propose?.(namesOf(kind, actions.taken)) ?? ''
  const part = { kind, name: kept.name.trim() || proposed }
  const fault = nameRefusal(part, actions.taken)
  return (
    <form
      {...kept.hands}
      // All that lacks is marked at once, by the fields themselves.
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        const isWhole = edited !== null && Object.keys(edited.missing).length === 0
        if (fault !== null || !isWhole || !actions.addNew(part, edited.after, at)) return
        kept.done()
        onDone(`${kind}:${part.name}`)
      }}
    >
      <Stack gap="md">
        <Title order={2}>Add {KIND_WORDS[kind]!.one}</Title>
        <DraftRestored of={kept} />
        <TextInput
          label="Name"
          description={`${proposed && `Left blank it is ${proposed}. `}Cannot be changed later in the editor`}
          placeholder={proposed}
          value={kept.name}
          onChange={(event) => kept.setName(event.currentTarget.value)}
          error={(isTried || kept.name !== '') && fault}
          maxLength={64}
          withAsterisk={proposed === ''}
          data-autofocus
          autoFocus
        />
        <PartForm
          key={kept.round}
          kind={kind}
          name={part.name}
          spec={start}
          typed={kept.typed}
          isNew
          configured={[]}
          errors={isTried ? (edited?.missing ?? {}) : {}}
          onEdit={kept.onEdit}
        />
        <Group>
          <Button type="submit" disabled={edited === null}>
            Add to the draft
          </Button>
          <Button
            variant="default"
            onClick={() => {
              kept.discard()
              onDone(null)
            }}
          >
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** @param taken ids of nodes */
const namesOf = (kind: PartRef['kind'], taken: ReadonlySet<string>): string[] =>
  [...taken].filter((id) => id.startsWith(`${kind}:`)).map((id) => id.slice(kind.length + 1))
