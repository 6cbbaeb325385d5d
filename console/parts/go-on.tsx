/** Goes on to where a page is to be found, in place of the address that led here. */
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { useStillHere } from '../lib/use-still-here.ts'

/** Unlike Navigate of the router it calls nobody back who has gone elsewhere while this page found out where it leads. */
export function GoOn({ to }: { to: string }) {
  const go = useNavigate()
  const isHere = useStillHere()
  useEffect(() => {
    if (isHere()) void go(to, { replace: true })
  }, [to, go, isHere])
  return null
}
