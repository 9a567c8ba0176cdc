/** Circles in a graph of imports: Tarjan's strongly connected components with more than one file. */

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** @returns each circle's members in alphabetical order; a file that imports itself is a circle, too */
export function circlesOf(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  const circles: string[][] = [];

  const visit = (node: string): number => {
    const index = order.size;
    let low = index;
    order.set(node, index);
    path.push(node);
    onPath.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (onPath.has(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === index) {
      const members = path.splice(path.indexOf(node));
      for (const member of members) onPath.delete(member);
      if (members.length > 1 || graph.get(node)?.has(node)) circles.push(members.sort());
    }
    return low;
  };

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles.sort();
}
