// Ids and names as their owners gave them. A file of their own: whoever checks a name needs none of the record schemas.
import * as z from 'zod'
import { MAX_ID_CHARS, MAX_NAME_CHARS, MAX_RULE_ID_CHARS } from './limits.ts'

const printable = (max: number) => z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${max}}$`))
/** An id: printable ASCII without spaces. Anything else is refused at the door, never rewritten. */
export const idText = printable(MAX_ID_CHARS)
export const nameText = printable(MAX_NAME_CHARS)
/** Id of a policy rule. */
export const ruleIdText = printable(MAX_RULE_ID_CHARS)
