/** A function of a name that remembers its last answers; a model may invent any number of names, so only so many. */
export function remember<Answer>(compute: (name: string) => Answer, most = 1_000): (name: string) => Answer {
  const known = new Map<string, Answer>()
  return (name) => {
    let answer = known.get(name)
    if (answer === undefined) {
      answer = compute(name)
      if (known.size >= most) known.clear()
      known.set(name, answer)
    }
    return answer
  }
}
