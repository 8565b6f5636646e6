// An extension for Pi: commands for what its RPC mode has no word for.
// WHICH is ROLE:N, the N-th message of a role in file order.
export default function (pi) {
  const which = (ctx, name) => {
    const [role, number] = name.split(":");
    const found = ctx.sessionManager.getEntries().filter((e) => e.type === "message" && e.message.role === role);
    return found[Number(number)].id;
  };
  pi.registerCommand("mark", {
    description: "mark WHICH [LABEL]: no label clears",
    handler: async (args, ctx) => {
      const [name, ...words] = args.split(" ");
      pi.setLabel(which(ctx, name), words.length ? words.join(" ") : undefined);
    },
  });
  pi.registerCommand("go", {
    description: "go WHICH [summary]: to another place of the tree",
    handler: async (args, ctx) => {
      const [name, how] = args.split(" ");
      await ctx.navigateTree(which(ctx, name), { summarize: how === "summary" });
    },
  });
  pi.registerCommand("note", {
    description: "note TEXT: a message for the model, and an entry that it does not see",
    handler: async (args) => {
      pi.sendMessage({ customType: "note", content: args, display: true });
      pi.appendEntry("kept", { text: args });
    },
  });
}
