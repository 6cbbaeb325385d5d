/** What is wrong with the fields of a form, for those that are drawn further down. */
import { createContext, type ReactNode, useContext } from 'react'
import { type FaultMark, type FieldErrors, marksOf } from '../lib/field-errors.ts'

const Found = createContext<FieldErrors>({})

export function Faulty({ errors, children }: { errors: FieldErrors; children: ReactNode }) {
  return <Found.Provider value={errors}>{children}</Found.Provider>
}

/** @returns the mark of the input at a path of the form, to spread over it */
export const useMarks = (): ((path: string) => FaultMark) => marksOf(useContext(Found))
