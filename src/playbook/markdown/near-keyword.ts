import type { Bullet } from './bullet.ts'
import { type StepContext, reportAt } from './step-context.ts'
import { isWithinEdits } from './is-within-edits.ts'
import { quote } from './findings.ts'

/** The words that open a form. */
const keywords: readonly string[] =
  `if else otherwise while until when for repeat return extract increment decrement append add subtract initialize continue break
  wait set ask tell say end exit stop quit`.split(/\s+/)
const known: ReadonlySet<string> = new Set(keywords)

/** Good words that happen to look like one of them. */
const otherWords: ReadonlySet<string> = new Set(
  `act add adjust aid aim all also am an and any are as at allow alter amend analyse analyze apply approve arrange assess assign assist attach attend audit avoid
  back ban bank bar base beg begin bet bid bill bind bite blend block blow book boot bring build bulk buy call can cancel care
  cast catch change charge chat check choose claim clean clear click close code come compare complete compute conclude confine
  confirm connect consider contact contain contrive convert convince cook copy correct count cover create cut data date deal
  debit decide deem delete deliver deny deploy detach detect determine disable discuss do draft draw drop each earn eat edit
  eject else email emit enable end engage enter equip erase escalate estimate exact examine execute exit expand expect explain
  export express extend face fail fall feed feel fetch file fill filter find finish fire fit fix flag flow fold follow force fork
  form format forward fund gain gather gauge generate get give go grant grade grow halt hand handle have heal hear help here hide
  hint hire hit hold host identify import include inform insert inspect install instil invite invoice is issue it item join judge
  jump keep kill know label launch lay lead learn leave lend let lift like limit line link list listen live load locate lock log
  look loop lose mail make map mark match meet melt merge move mute name need negate next no note obtain of off offer on only open
  opt or order out own pack park parse part pass paste patch pause pay pend perform phone pick place plan play plot point post
  prepare press print process produce prompt propose prove provide publish pull push put quit quote raise ran rank rate reach
  react read rebuild recall receive recent record recur redo reduce refer refine reflect refund refuse regain register reheat
  reject relate relay release rely remain remake remind remove rename render renew rent reopen repay repair repeal replace reply report request
  require rerun rescue research reset resign resolve resort respond rest restart restore result resume retain retire retrieve retry
  return reveal reverse review revoke reward rewrite ring rise risk roll rotate round route run sail save say scale scan schedule score
  search seat secure see seek sell send serve set sew share shift ship shop show shut sign sit skip sleep slow smile solve sort
  speak spell spend split spot stage stand start state stay step stop store submit subscribe suggest sum supply support sure
  swap sync tag take talk tap target teach tear test thank then there think this tie time track trade train translate treat trim
  try turn type undo unit unite unlock unpack until untie update upload use utilise validate value vary verify view visit vote
  wade wage wake walk want warn wash watch wear weigh welcome what when where whip white whole whose why widen win wipe wire wish
  with work wrap write yield attract abstract contract detract subtract distract exact expand depend spend amend defend upend
  beat repeat repel reheat retreat entreat defeat confine combine contrite constitute contribute convene increase decrease
  implement intrude detriment initial initiate finalize minimize italicize asks task mask bask risk disk desk
  tall bell fell sell well dell yell cell talk bend fend lend mend rend send tend vend edit emit omit
  than that them they shop step stew stow soap spot atop crop drop prop suit unit knit omit exist admit shift fist list mist quiet
  quilt quota quick way day may lay sky spy sat sad same some such case cash ease east easy least beach peach each foe fog far fur
  four ford fore fort forth them than whom hen wren subject substitute subscribe sort sent sell seal sale safe
  bread bleak freak brake bright contain contend tool toll tale till tilt weight wait want wart write`.split(
    /\s+/,
  ),
)

/** Reports a bullet whose first word is within two edits of one that opens a form; says whether it did. */
export function nearKeyword(bullet: Bullet, context: StepContext): boolean {
  const found = /^[*_]*([\p{L}]{2,14})\b/u.exec(bullet.text)
  if (found === null) return false
  const word = found[1]!.toLowerCase()
  if (otherWords.has(word) || known.has(word)) return false
  const rest = bullet.text.slice(found[0].length)
  const structured = bullet.children.length > 0 || /[$<>="“]|\beach\b/.test(rest)
  // A word alone is hardly a sentence.
  const alone = /^[\s.!:*_]*$/.test(rest)
  const loose = structured || alone
  return (
    reportWithin(1, word, found, rest, loose, bullet, context) ||
    reportWithin(2, word, found, rest, loose, bullet, context)
  )
}

/** Reports the first form that so many edits lead to: the nearest is tried first, so that `Se` is `Set` and not `Else`. */
function reportWithin(
  edits: 1 | 2,
  word: string,
  found: RegExpExecArray,
  rest: string,
  loose: boolean,
  bullet: Bullet,
  context: StepContext,
): boolean {
  for (const keyword of keywords) {
    const most = keyword.length >= 6 ? 2 : keyword.length >= 4 ? (loose ? 2 : 1) : loose ? 1 : 0
    const limit = Math.min(most, edits)
    if (limit < edits || Math.abs(keyword.length - word.length) > limit) continue
    // Short words have many neighbours; two edits must leave the beginning or the end alone.
    if (keyword.length < 6 && word[0] !== keyword[0] && word.at(-1) !== keyword.at(-1)) continue
    if (strangers(word, keyword) > limit || !isWithinEdits(word, keyword, limit)) continue
    const start = found[0].length - found[1]!.length
    reportNear(bullet, start, start + word.length, capital(keyword) + rest, context)
    return true
  }
  return false
}

/** Says that a bullet is nearly a form, and shows the line as it was probably meant. */
export function reportNear(
  bullet: Bullet,
  start: number,
  end: number,
  meant: string,
  context: StepContext,
): void {
  reportAt(bullet, start, end, context).error(
    'near_keyword',
    `${quote(bullet.text)} is no step, but nearly one`,
    `did you mean ${quote(meant)}?`,
  )
}

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1)
}

/** How many letters of a word are not in the other one: each of them takes an edit, so most words need no closer look. */
function strangers(word: string, keyword: string): number {
  let count = 0
  for (let at = 0; at < word.length; at++) if (!keyword.includes(word[at]!)) count++
  return count
}
