/** Which git repository is followed: to begin, and to change. What was applied stays whatever is followed next. */
import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { type ChangeEvent, useState } from 'react'
import type { CatalogRepository, CatalogRepositoryWrite } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { CredentialSelect } from '../../parts/credential-select.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'

type Policy = CatalogRepository['policy']
type Draft = Required<Omit<CatalogRepositoryWrite, 'interval_seconds'>>

const POLICIES: { value: Policy; label: string; says: string }[] = [
  { value: 'manual', label: 'Manual', says: 'A person reviews the plan of a commit and applies it.' },
  { value: 'auto', label: 'Automatic', says: 'Each commit is applied, and edits by hand are overwritten.' },
  {
    value: 'auto-prune',
    label: 'Automatic, with deletions',
    says: 'As automatic, and parts the files no longer name are deleted.',
  },
]

const NOTHING: Draft = {
  ...{ address: '', path: '', ref: 'main', policy: 'manual', environment: '', credential: '' },
}

const draftOf = ({ address, path, ref, policy, environment, credential }: CatalogRepository): Draft => ({
  ...{ address, path, ref, policy },
  ...{ environment: environment ?? '', credential: credential ?? '' },
})

/** What is empty is not said: then the default holds. An interval that was set elsewhere stays. */
const writeOf = (draft: Draft, now: CatalogRepository | null): CatalogRepositoryWrite => ({
  ...(Object.fromEntries(
    Object.entries(draft).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])),
  ) as Partial<Draft>),
  address: draft.address.trim(),
  ...(now ? { interval_seconds: now.interval_seconds } : {}),
})

/** @param now what is followed; null: nothing yet */
export function FollowForm({ now, onClose }: { now: CatalogRepository | null; onClose: () => void }) {
  const draft = useDraft<Draft>({ form: 'follow', start: now ? draftOf(now) : NOTHING })
  const { address, policy, credential } = draft.value
  const set = (field: keyof Draft, value: string) => draft.set((was) => ({ ...was, [field]: value }))
  const save = useChange((_: undefined) => declared.followRepository(writeOf(draft.value, now)), {
    said: () => 'The repository is followed, and read now',
    onDone: () => {
      draft.done()
      onClose()
    },
    quiet: true,
  })
  const marks = marksOf(fieldErrors(save.error))
  const text = (field: keyof Draft) => ({
    ...marks(field),
    value: draft.value[field],
    onChange: (event: ChangeEvent<HTMLInputElement>) => set(field, event.currentTarget.value),
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title={now ? 'Change what is followed' : 'Follow a git repository'}
      size="lg"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(undefined)
        }}
      >
        <Stack>
          <DraftRestored of={draft} />
          <TextInput
            label="Address"
            description="https, ssh or git@HOST:PATH; or a path on the machine that svc runs on"
            placeholder="https://github.com/acme/catalog.git"
            {...text('address')}
            required
            maxLength={1_000}
            data-autofocus
          />
          <Group grow align="flex-start">
            <TextInput label="Branch or tag" placeholder="main" {...text('ref')} maxLength={200} />
            <TextInput
              label="Folder or file"
              placeholder="all of the repository"
              {...text('path')}
              maxLength={1_000}
            />
          </Group>
          <Select
            label="Policy"
            description={POLICIES.find(({ value }) => value === policy)?.says}
            data={POLICIES.map(({ value, label }) => ({ value, label }))}
            value={policy}
            onChange={(value) => set('policy', value ?? 'manual')}
            allowDeselect={false}
          />
          <TextInput
            label="Environment"
            description="Its file in environments/ says what differs there"
            placeholder="none"
            {...text('environment')}
            maxLength={64}
          />
          <CredentialSelect
            label="Credential"
            description="A private repository is read with it, over https."
            value={credential}
            onChange={(name) => set('credential', name)}
            {...(marks('credential').error ? { error: String(marks('credential').error) } : {})}
          />
          <Refusal title="Couldn’t follow the repository" error={save.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={address.trim() === ''}>
              {now ? 'Save' : 'Follow'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** What follows the address on the page: to change it, and to follow nothing any more. */
export function FollowButtons({ now }: { now: CatalogRepository }) {
  const [opened, setOpened] = useState<'form' | 'leave' | null>(null)
  const close = () => setOpened(null)
  const leave = useChange((_: undefined) => declared.leaveRepository(), {
    said: () => 'Stopped following the repository',
    onDone: close,
    quiet: true,
  })
  return (
    <Group gap="xs">
      <Button size="compact-sm" variant="default" onClick={() => setOpened('form')}>
        Change
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => setOpened('leave')}>
        Stop following
      </Button>
      {opened === 'form' && <FollowForm now={now} onClose={close} />}
      <Modal opened={opened === 'leave'} onClose={close} title="Stop following the repository?">
        <Stack>
          <Text size="sm">
            What was applied stays as it is. New commits are no longer read, and edits by hand are no longer
            reported.
          </Text>
          <Refusal title="Couldn’t stop following" error={leave.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button color="red" loading={leave.isPending} onClick={() => leave.mutate(undefined)}>
              Stop following
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Group>
  )
}
