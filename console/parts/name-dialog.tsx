/** Asks whoever acts for their name, where no key and no proxy says it. */
import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { setActorName } from '../lib/actor.ts'

export function NameDialog({ onClose, onNamed }: { onClose: () => void; onNamed: () => void }) {
  const [name, setName] = useState('')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (name.trim() === '') return
    setActorName(name)
    onNamed()
  }
  return (
    <Modal opened onClose={onClose} title="Your name" centered>
      <form onSubmit={submit}>
        <TextInput
          label="Name"
          description="Shown with what you do to incidents. Kept in this browser."
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={100}
          data-autofocus
        />
        <Button type="submit" mt="md" disabled={name.trim() === ''}>
          Assign to me
        </Button>
      </form>
    </Modal>
  )
}
