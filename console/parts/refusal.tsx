/** Why a save was refused; where two people changed the same field, what each wants. */

import { Alert, Anchor, Button, Group, Stack, Table } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../client.ts'
import { type FieldErrors, fieldErrors } from '../lib/field-errors.ts'
import { fieldIn, focusField, inWords } from '../lib/field-in.ts'
import { fieldName, valueText } from '../lib/fields.ts'
import { WideTable } from './wide-table.tsx'

export function Refusal({
  error,
  faults = {},
  title = 'Couldn’t save',
  onTakeTheirs,
  onKeepMine,
}: {
  error: Error | null
  /** What is known to be wrong without asking, by field. */
  faults?: FieldErrors
  /** What did not happen. */
  title?: string
  /** Reads what is stored now, and gives mine up. */
  onTakeTheirs?: () => void
  /** Saves mine over theirs. */
  onKeepMine?: () => void
}) {
  const sentences = [...new Set([...Object.values(faults), ...(error?.message.split('; ') ?? [])])]
  if (sentences.length === 0) return null
  const conflicts = error instanceof ApiError ? error.conflicts : []
  return (
    <Alert
      color="red"
      role="alert"
      icon={<CircleAlert size={18} aria-hidden />}
      title={conflicts.length ? 'Somebody else changed the same field' : title}
    >
      {conflicts.length === 0 ? (
        <Sentences of={sentences} fields={{ ...fieldErrors(error), ...faults }} isSent={error !== null} />
      ) : (
        <Stack gap="xs">
          <WideTable minWidth={420}>
            <Table verticalSpacing={4}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Field</Table.Th>
                  <Table.Th>Before</Table.Th>
                  <Table.Th>Mine</Table.Th>
                  <Table.Th>Theirs</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {conflicts.map((conflict) => (
                  <Table.Tr key={`${conflict.kind}:${conflict.name}:${conflict.path}`}>
                    <Table.Td>{fieldName(conflict.path)}</Table.Td>
                    <Table.Td className="mono">{valueText(conflict.base, conflict)}</Table.Td>
                    <Table.Td className="mono">{valueText(conflict.mine, conflict)}</Table.Td>
                    <Table.Td className="mono">{valueText(conflict.theirs, conflict)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
          <Group>
            {onTakeTheirs && (
              <Button size="xs" variant="default" onClick={onTakeTheirs}>
                Take theirs
              </Button>
            )}
            {onKeepMine && (
              <Button size="xs" color="red" onClick={onKeepMine}>
                Keep mine
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Alert>
  )
}

/** Each leads to its field, where the form around it shows that; a refusal goes to the first by itself. */
function Sentences({ of, fields, isSent }: { of: readonly string[]; fields: FieldErrors; isSent: boolean }) {
  const box = useRef<HTMLUListElement>(null)
  const paths = new Map(Object.entries(fields).map(([path, sentence]) => [sentence, path]))
  /** What each says in the words of the form, where it leads to a field. */
  const [linked, setLinked] = useState<ReadonlyMap<string, string>>(new Map())
  const fieldOf = (sentence: string): HTMLElement | null => {
    const form = box.current?.closest('form')
    const path = paths.get(sentence)
    return form && path !== undefined ? fieldIn(form, path) : null
  }
  const said = of.join('; ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked up anew for each thing said.
  useEffect(() => {
    const found = of.filter((sentence) => fieldOf(sentence) !== null)
    const form = box.current?.closest('form')
    setLinked(new Map(found.map((sentence) => [sentence, inWords(form!, paths.get(sentence)!, sentence)])))
    // A field that marks its fault has the focus by lib/first-fault.ts.
    const marks = box.current?.closest('form')?.querySelector('[aria-invalid="true"]')
    if (isSent && found[0] !== undefined && !marks) focusField(fieldOf(found[0])!)
  }, [said, isSent])
  return (
    <ul className="refusal-list" ref={box}>
      {of.map((sentence) => (
        <li key={sentence}>
          {linked.has(sentence) ? (
            <Anchor
              component="button"
              type="button"
              size="sm"
              c="inherit"
              underline="always"
              onClick={() => {
                const field = fieldOf(sentence)
                if (field) focusField(field)
              }}
            >
              {linked.get(sentence)}
            </Anchor>
          ) : (
            sentence
          )}
        </li>
      ))}
    </ul>
  )
}
