/** The keys of a page, shown by `?`. */
import { Kbd, Modal, Table } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useMay } from './may.tsx'

/** Keys that act. */
const ACTING = 'AENUX'

/** Of lists of incidents. */
export const LIST_KEYS: readonly [key: string, what: string][] = [
  ['J, K', 'Next and previous incident'],
  ['Enter', 'Open'],
  ['A', 'Acknowledge'],
  ['E', 'Mark handled'],
  ['U', 'Undo'],
  ['?', 'This help'],
]
/** Of lists in which several can be selected. */
export const SELECTION_KEYS: typeof LIST_KEYS = [
  ...LIST_KEYS.slice(0, 2),
  ['X', 'Select; A and E then act on all that are selected'],
  ...LIST_KEYS.slice(2),
]
/** Of the list of what is handled, which A and E do nothing to. */
export const HANDLED_KEYS: typeof LIST_KEYS = [
  ...LIST_KEYS.slice(0, 2),
  ['X', 'Select'],
  ...LIST_KEYS.filter(([key]) => key === 'U' || key === '?'),
]

export function KeysHelp({ keys }: { keys: readonly [key: string, what: string][] }) {
  const may = useMay('respond')
  const [opened, { open, close }] = useDisclosure(false)
  useHotkeys([['shift+?', open]])
  return (
    <Modal opened={opened} onClose={close} title="Keys of this page" centered>
      <Table aria-label="Keys">
        <Table.Tbody>
          {keys
            .filter(([key]) => may || !ACTING.includes(key))
            .map(([key, what]) => (
              <Table.Tr key={key}>
                <Table.Td>
                  <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{what}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}

/** What of them is said beside a list. @param canAct some of its incidents are not handled */
export function KeysHint({ canSelect = false, canAct = true }: { canSelect?: boolean; canAct?: boolean }) {
  const may = useMay('respond')
  return (
    <span className="push keys-hint" style={{ fontSize: 12.5, color: 'var(--text-2)' }}>
      <Kbd size="xs">J</Kbd> <Kbd size="xs">K</Kbd> move{' '}
      {canSelect && (
        <>
          <Kbd size="xs">X</Kbd> select{' '}
        </>
      )}
      {canAct && may && (
        <>
          <Kbd size="xs">A</Kbd> acknowledge <Kbd size="xs">E</Kbd> handled
        </>
      )}
    </span>
  )
}
