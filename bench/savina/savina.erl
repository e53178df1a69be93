%% The works in Erlang/OTP: prints a line for each, its name and messages a second, the middle of three runs.
-module(savina).
-export([main/1]).

main([Share]) ->
    S = list_to_float(Share),
    Works = [
        {"counting", fun counting/1, 150000}, {"pingPong", fun ping_pong/1, 50000}, {"forkJoin", fun fork_join/1, 15000},
        {"ring", fun ring/1, 100000}, {"big", fun big/1, 10000}, {"chameneos", fun chameneos/1, 25000}
    ],
    [io:format("~s ~w~n", [Name, middle(Work, max(20, round(Size * S)))]) || {Name, Work, Size} <- Works],
    halt(0).

middle(Work, Size) ->
    Work(max(10, Size div 2)),
    Rates = [rate(Work, Size) || _ <- [1, 2, 3]],
    lists:nth(2, lists:sort(Rates)).

rate(Work, Size) ->
    Start = erlang:monotonic_time(nanosecond),
    Messages = Work(Size),
    Messages * 1000000000 / (erlang:monotonic_time(nanosecond) - Start).

counter(N) ->
    receive
        {add, _} -> counter(N + 1);
        {total, From} -> From ! {total, N}
    end.

counting(Size) ->
    Pid = spawn(fun() -> counter(0) end),
    [Pid ! {add, N} || N <- lists:seq(1, Size)],
    Pid ! {total, self()},
    receive {total, Size} -> Size end.

ponger() ->
    receive
        {ping, From} -> From ! pong, ponger();
        stop -> ok
    end.

ping(_, 0) -> ok;
ping(Pid, N) ->
    Pid ! {ping, self()},
    receive pong -> ping(Pid, N - 1) end.

ping_pong(Size) ->
    Main = self(),
    Ponger = spawn(fun ponger/0),
    spawn(fun() -> ping(Ponger, Size), Main ! done end),
    receive done -> Ponger ! stop, Size * 2 end.

fork_join(Size) ->
    Pids = [spawn(fun() -> counter(0) end) || _ <- lists:seq(1, 8)],
    [[Pid ! {add, N} || Pid <- Pids] || N <- lists:seq(1, Size)],
    [Pid ! {total, self()} || Pid <- Pids],
    [receive {total, Size} -> ok end || _ <- Pids],
    Size * 8.

ring_node(Main) ->
    receive
        {next, Pid} -> ring_node(Main, Pid)
    end.

ring_node(Main, Next) ->
    receive
        {token, 0} -> Main ! done, ring_node(Main, Next);
        {token, N} -> Next ! {token, N - 1}, ring_node(Main, Next);
        stop -> ok
    end.

ring(Size) ->
    Main = self(),
    Pids = [spawn(fun() -> ring_node(Main) end) || _ <- lists:seq(1, 16)],
    [Pid ! {next, Next} || {Pid, Next} <- lists:zip(Pids, tl(Pids) ++ [hd(Pids)])],
    hd(Pids) ! {token, Size},
    receive done -> [Pid ! stop || Pid <- Pids], Size end.

peer(Main, Size) ->
    receive
        {peers, Peers} -> peer(Main, list_to_tuple(Peers), 0, Size, true)
    end.

peer(Main, Peers, At, Left, true) when Left > 0 ->
    Next = other(Peers, (At + 7) rem tuple_size(Peers)),
    element(Next + 1, Peers) ! {ping, self()},
    peer(Main, Peers, Next, Left, false);
peer(Main, Peers, At, Left, Sends) ->
    receive
        {ping, From} -> From ! pong, peer(Main, Peers, At, Left, Sends);
        pong when Left =:= 1 -> Main ! done, peer(Main, Peers, At, 0, false);
        pong -> peer(Main, Peers, At, Left - 1, true);
        stop -> ok
    end.

other(Peers, At) ->
    case element(At + 1, Peers) =:= self() of
        true -> (At + 1) rem tuple_size(Peers);
        false -> At
    end.

big(Size) ->
    Main = self(),
    Pids = [spawn(fun() -> peer(Main, Size) end) || _ <- lists:seq(1, 8)],
    [Pid ! {peers, Pids} || Pid <- Pids],
    [receive done -> ok end || _ <- Pids],
    [Pid ! stop || Pid <- Pids],
    Size * 8 * 2.

mall(0, _) ->
    receive
        {meet, From, _} -> From ! closed, mall(0, none);
        stop -> ok
    end;
mall(Left, none) ->
    receive {meet, From, Colour} -> mall(Left, {From, Colour}) end;
mall(Left, {First, Colour}) ->
    receive
        {meet, From, Other} ->
            First ! {met, Other},
            From ! {met, Colour},
            mall(Left - 1, none)
    end.

creature(Main, Mall, Colour, Met) ->
    Mall ! {meet, self(), Colour},
    receive
        {met, Colour} -> creature(Main, Mall, Colour, Met + 1);
        {met, Other} -> creature(Main, Mall, 3 - Colour - Other, Met + 1);
        closed -> Main ! {met, Met}
    end.

chameneos(Size) ->
    Main = self(),
    Mall = spawn(fun() -> mall(Size, none) end),
    [spawn(fun() -> creature(Main, Mall, N rem 3, 0) end) || N <- lists:seq(0, 7)],
    Met = lists:sum([receive {met, Count} -> Count end || _ <- lists:seq(1, 8)]),
    Mall ! stop,
    Met = Size * 2,
    Size * 4.
